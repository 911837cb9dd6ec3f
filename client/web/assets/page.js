// Changes as they happen. Everything works without it: a page is whole when it comes, and forms are forms.

const REFRESH = { headers: { 'X-Holdfast-Refresh': '1' }, cache: 'no-store' };
const LEAST_PAUSE_MS = 400;
const COME_BACK_MS = 1500;

keepFresh();
followRun();
countDown();
sendOnce();
showFault();

/** Parts that say how often they are to be looked at again. */
function keepFresh() {
  const parts = [...document.querySelectorAll('[data-live][data-every-ms]')];
  if (parts.length === 0) return;
  const everyMs = Math.min(...parts.map((part) => Number(part.dataset.everyMs)));
  const again = () => setTimeout(() => void refresh().finally(again), everyMs);
  again();
}

/** A run that goes on: its events say when to look again, and what the model writes is shown as it comes. */
function followRun() {
  const run = document.querySelector('[data-follow]');
  if (run === null) return;
  let after = run.dataset.after;
  let hasEnded = false;
  const later = collect(refresh);
  const open = () => {
    const source = new EventSource(`${run.dataset.follow}?after=${after}`);
    source.onopen = () => {
      say('Live: this page changes as the run goes on.');
      later();
    };
    source.addEventListener('event', (message) => {
      after = message.lastEventId;
      later();
    });
    source.addEventListener('resync', later);
    source.addEventListener('reset', (message) => beginText(JSON.parse(message.data)));
    source.addEventListener('text', (message) => addText(JSON.parse(message.data)));
    source.addEventListener('end', () => {
      hasEnded = true;
      source.close();
      say('');
      later();
    });
    source.onerror = () => {
      if (hasEnded) return;
      say('Reconnecting… What is shown may be older than what is.');
      // A stream that ends comes back by itself; one that was refused does not.
      source.close();
      setTimeout(open, COME_BACK_MS);
    };
  };
  open();
}

/** Calls that come close together are one, and none is lost. */
function collect(work) {
  let isDue = false;
  let isBusy = false;
  const step = async () => {
    if (isBusy) return;
    isBusy = true;
    while (isDue) {
      isDue = false;
      await work();
      await new Promise((resolve) => setTimeout(resolve, LEAST_PAUSE_MS));
    }
    isBusy = false;
  };
  return () => {
    isDue = true;
    void step();
  };
}

/** The page anew, and of it the parts that are other than those that are here. */
async function refresh() {
  try {
    const response = await fetch(location.href, REFRESH);
    if (response.status === 401) return say('You are not signed in any more. Load the page again to sign in.');
    if (!response.ok) return undefined;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) renew(part, fresh.getElementById(part.id));
    showText();
  } catch {
    // The service does not answer: what is here stays, and is looked at again.
  }
  return undefined;
}

function renew(part, fresh) {
  if (fresh === null) return;
  const version = part.dataset.version;
  const isSame = version === undefined ? part.innerHTML === fresh.innerHTML : version === fresh.dataset.version;
  if (isSame) return;
  const open = new Map([...part.querySelectorAll('details[id]')].map((each) => [each.id, each.open]));
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const href = focused?.getAttribute('href');
  for (const each of fresh.querySelectorAll('details[id]')) {
    if (open.has(each.id)) each.open = open.get(each.id);
  }
  part.replaceChildren(...fresh.childNodes);
  for (const { name, value } of fresh.attributes) part.setAttribute(name, value);
  if (focused === null) return;
  const again = focused.id === '' ? undefined : document.getElementById(focused.id);
  (again ?? (href && part.querySelector(`[href="${href}"]`)) ?? document.getElementById('main'))?.focus();
}

function say(text) {
  const place = document.getElementById('connection');
  if (place !== null && place.textContent !== text) place.textContent = text;
}

function beginText({ step, attempt }) {
  document.getElementById('live-text').textContent = '';
  document.getElementById('live-attempt').textContent = `in step ${step}, attempt ${attempt}`;
  showText();
}

function addText({ text }) {
  const place = document.getElementById('live-text');
  place.append(text);
  showText();
  place.scrollTop = place.scrollHeight;
}

/** What an attempt wrote is of interest while it writes; then it has been judged, and is told in its step. */
function showText() {
  const live = document.getElementById('live');
  if (live === null) return;
  const isWriting = document.getElementById('state')?.dataset.state === 'MODEL_RUNNING';
  live.hidden = !isWriting || document.getElementById('live-text').textContent === '';
}

/** By this browser's clock from when it was shown: the clocks need not agree. */
function countDown() {
  const starts = new WeakMap();
  setInterval(() => {
    for (const left of document.querySelectorAll('[data-remaining-ms]')) {
      if (!starts.has(left)) starts.set(left, performance.now());
      const ms = Number(left.dataset.remainingMs) - (performance.now() - starts.get(left));
      const text = ms <= 0 ? 'expired' : `${roughly(ms)} left`;
      if (left.textContent !== text) left.textContent = text;
      left.classList.toggle('soon', ms < 300_000);
    }
  }, 500);
}

function roughly(ms) {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ];
  const at = units.findIndex(([, size]) => ms >= size);
  if (at === -1) return '0 s';
  const [name, size] = units[at];
  const next = units[at + 1];
  const rest = next === undefined ? 0 : Math.floor((ms % size) / next[1]);
  return `${Math.floor(ms / size)} ${name}${rest === 0 ? '' : ` ${rest} ${next[0]}`}`;
}

/** A second click sends nothing. (If it did, the response would be the same one by its id.) */
function sendOnce() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.once === undefined) return;
    if (form.dataset.sent !== undefined) return event.preventDefault();
    form.dataset.sent = '';
    for (const button of form.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true');
  });
  // Back from another page: the form may be used again.
  window.addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('form[data-sent]')) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
    }
  });
}

/** What was refused is where the reader is taken. */
function showFault() {
  const fault = document.querySelector('[aria-invalid="true"], fieldset.faulty');
  if (fault !== null) fault.focus();
}
