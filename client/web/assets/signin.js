// A development link brings the token behind `#`: it is taken out of the address at once, and sent as the form sends it.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (token !== null) {
  history.replaceState(null, '', location.pathname + location.search);
  const field = document.getElementById('token');
  const form = document.getElementById('signin');
  if (field !== null && form !== null) {
    field.value = token;
    form.requestSubmit();
  }
}
