-- Written by `npm run generate` from an empty database after all migrations.

create table artifacts (
  tenant text not null,
  hash text not null,
  media_type text not null,
  bytes bytea not null,
  stored_at timestamp with time zone not null,
  PRIMARY KEY (tenant, hash)
);

create table attempts (
  tenant text not null,
  run text not null,
  step integer not null,
  attempt integer not null,
  state text not null,
  context text not null,
  candidate text,
  outcome json,
  opened_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  PRIMARY KEY (tenant, run, step, attempt)
) with (fillfactor=80);

create table decisions (
  tenant text not null,
  run text not null,
  step integer not null,
  id text not null,
  entry bigint generated always as identity not null,
  attempt integer not null,
  ordinal integer not null,
  validator text not null,
  validator_version text not null,
  phase text not null,
  try integer not null,
  input_hash text not null,
  verdict text not null,
  code text,
  evidence json not null,
  decided_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run, step, id)
);

create table facts (
  tenant text not null,
  run text not null,
  source text not null,
  index integer not null,
  step integer not null,
  ordinal integer not null,
  object text not null,
  field text not null,
  value json not null,
  version text,
  evidence text not null,
  is_carried boolean default false not null,
  recorded_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run, source, index)
);

create table inbox (
  tenant text not null,
  run text not null,
  operation text not null,
  event_id text not null,
  job text,
  body text not null,
  "position" bigint not null,
  received_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  effect text,
  PRIMARY KEY (tenant, run, operation, event_id)
);

create table journal (
  tenant text not null,
  run text not null,
  "position" bigint not null,
  kind text not null,
  seq integer,
  event_id text,
  body json not null,
  recorded_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run, "position"),
  CHECK (
CASE kind
    WHEN 'machine'::text THEN ((seq IS NOT NULL) AND (event_id IS NULL))
    ELSE ((seq IS NULL) AND (event_id IS NOT NULL))
END)
);

create table ledger (
  tenant text not null,
  run text not null,
  reference text not null,
  entry bigint generated always as identity not null,
  kind text not null,
  is_open boolean not null,
  is_estimate boolean not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost_micros bigint not null,
  PRIMARY KEY (tenant, run, reference)
) with (fillfactor=80);

create table live_text (
  tenant text not null,
  run text not null,
  step integer not null,
  attempt integer not null,
  texts text[] not null,
  characters integer not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run)
) with (fillfactor=50);

create table messages (
  tenant text not null,
  run text not null,
  id text not null,
  kind text not null,
  body json not null,
  plan_version integer not null,
  accepted_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run, id)
);

create table migrations (
  name character varying(255) not null,
  "timestamp" character varying(255) not null,
  PRIMARY KEY (name)
);

create table migrations_lock (
  id character varying(255) not null,
  is_locked integer default 0 not null,
  PRIMARY KEY (id)
);

create table operations (
  tenant text not null,
  run text not null,
  id text not null,
  step integer not null,
  ordinal integer not null,
  call text not null,
  tool text not null,
  effect text not null,
  arguments text not null,
  argument_hash text not null,
  target text,
  expected_version text,
  plan_version integer not null,
  equivalent text,
  is_named boolean default false not null,
  state text not null,
  is_open boolean generated always as ((state <> ALL (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text, 'REFUSED'::text]))) stored not null,
  generation integer default 0 not null,
  open_generations integer[] default '{}'::integer[] not null,
  decisions text[] default '{}'::text[] not null,
  cancelled_by text,
  edited_by text,
  job text,
  code text,
  raw text,
  output text,
  failure text,
  result_hash text,
  evidence text,
  created_at timestamp with time zone not null,
  first_dispatched_at timestamp with time zone,
  dispatched_at timestamp with time zone,
  dispatch_deadline_at timestamp with time zone,
  not_before_at timestamp with time zone,
  look_ups integer default 0 not null,
  polls integer default 0 not null,
  PRIMARY KEY (tenant, run, step, ordinal)
) with (fillfactor=70);

create table responses (
  tenant text not null,
  run text not null,
  id text not null,
  wait text not null,
  principal json not null,
  body json not null,
  received_at timestamp with time zone not null,
  verdict text not null,
  message text,
  PRIMARY KEY (tenant, run, id)
);

create table results (
  tenant text not null,
  run text not null,
  version integer not null,
  artifact text not null,
  recorded_at timestamp with time zone not null,
  PRIMARY KEY (tenant, run, version)
);

create table runs (
  tenant text not null,
  run text not null,
  agent text not null,
  principal json not null,
  task json not null,
  body_hash text not null,
  limits json,
  extension json,
  reopens text,
  follows text,
  state text not null,
  seq integer default 0 not null,
  step integer default 0 not null,
  plan_version integer default 1 not null,
  definition text,
  terminal text,
  reason text,
  created_at timestamp with time zone not null,
  opened_at timestamp with time zone,
  deadline_at timestamp with time zone,
  ended_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  stopped_at timestamp with time zone,
  next_position bigint default 1 not null,
  steps bigint default 0 not null,
  attempts bigint default 0 not null,
  input_tokens bigint default 0 not null,
  output_tokens bigint default 0 not null,
  cache_read_tokens bigint default 0 not null,
  cache_write_tokens bigint default 0 not null,
  cost_micros bigint default 0 not null,
  tool_calls bigint default 0 not null,
  estimated_tokens bigint default 0 not null,
  PRIMARY KEY (tenant, run),
  CHECK (((terminal IS NULL) = (ended_at IS NULL)))
) with (fillfactor=50);

create table waits (
  tenant text not null,
  run text not null,
  id text not null,
  kind text not null,
  seq integer not null,
  plan_version integer not null,
  operation text,
  plan text not null,
  response_schema json not null,
  expires_in_ms bigint not null,
  reason text,
  state text not null,
  opened_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  response json,
  response_id text,
  PRIMARY KEY (tenant, run, id)
);

create table wakes (
  tenant text not null,
  run text not null,
  kind text not null,
  subject text not null,
  due_at timestamp with time zone not null,
  tries integer default 0 not null,
  PRIMARY KEY (tenant, run, kind, subject)
);

CREATE INDEX inbox_unsettled ON public.inbox USING btree (tenant, run, operation, "position") WHERE (settled_at IS NULL);

CREATE UNIQUE INDEX journal_by_event ON public.journal USING btree (tenant, run, event_id) WHERE (event_id IS NOT NULL);

CREATE UNIQUE INDEX journal_by_seq ON public.journal USING btree (tenant, run, seq) WHERE (seq IS NOT NULL);

CREATE UNIQUE INDEX messages_by_plan ON public.messages USING btree (tenant, run, plan_version);

CREATE INDEX operations_by_arguments ON public.operations USING btree (argument_hash, tenant, run);

CREATE INDEX operations_open ON public.operations USING btree (tenant, run) WHERE is_open;

CREATE INDEX runs_by_agent ON public.runs USING btree (tenant, agent, created_at DESC, run DESC);

CREATE INDEX runs_by_creation ON public.runs USING btree (tenant, created_at DESC, run DESC);

CREATE INDEX runs_by_id ON public.runs USING btree (run text_pattern_ops);

CREATE INDEX runs_by_words ON public.runs USING gin (((array_to_tsvector(ARRAY[(' '::text || tenant)]) || to_tsvector('simple'::regconfig, regexp_replace("left"((task)::text, 100000), '(\\(u[0-9a-f]{4}|.)|[\u0001-/:-@\u005b\u005d-`{-\u007f])+'::text, ' '::text, 'g'::text)))));

CREATE INDEX runs_ended ON public.runs USING btree (tenant, terminal, created_at DESC, run DESC) WHERE (terminal IS NOT NULL);

CREATE INDEX runs_live ON public.runs USING btree (tenant, created_at DESC, run DESC) WHERE (terminal IS NULL);

CREATE INDEX runs_not_opened ON public.runs USING btree (created_at) WHERE ((opened_at IS NULL) AND (terminal IS NULL));

CREATE INDEX waits_by_opening ON public.waits USING btree (tenant, opened_at DESC, seq DESC, id DESC);

CREATE INDEX waits_open ON public.waits USING btree (tenant, opened_at DESC, seq DESC, id DESC) WHERE (state = 'OPEN'::text);

CREATE INDEX wakes_by_due ON public.wakes USING btree (due_at);
