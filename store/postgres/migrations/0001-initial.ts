/**
 * The first schema. No foreign keys: every row is reached through its run, whose row is locked by most writers, and a key
 * check on each insert would lock it once more. An operation's id is its step and ordinal. What changes often (a run's state and totals, an operation's state) is in no
 * index and in no index's condition, and the tables leave room in their pages, so that such updates stay in place.
 */
import { sql, type Kysely } from 'kysely';
import type { StoreMigration } from '../migration';

const STATEMENTS = [
  `create table runs (
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
    seq integer not null default 0,
    step integer not null default 0,
    plan_version integer not null default 1,
    definition text,
    terminal text,
    reason text,
    created_at timestamptz not null,
    opened_at timestamptz,
    deadline_at timestamptz,
    ended_at timestamptz,
    cancel_requested_at timestamptz,
    stopped_at timestamptz,
    next_position bigint not null default 1,
    steps bigint not null default 0,
    attempts bigint not null default 0,
    input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    cache_read_tokens bigint not null default 0,
    cache_write_tokens bigint not null default 0,
    cost_micros bigint not null default 0,
    tool_calls bigint not null default 0,
    estimated_tokens bigint not null default 0,
    primary key (tenant, run),
    check ((terminal is null) = (ended_at is null))
  ) with (fillfactor = 50)`,
  'create index runs_by_creation on runs (tenant, created_at desc, run desc)',
  'create index runs_live on runs (tenant, created_at desc, run desc) where terminal is null',
  'create index runs_ended on runs (tenant, terminal, created_at desc, run desc) where terminal is not null',

  // For a report from outside, which names an operation and no tenant.
  'create index runs_by_id on runs (run)',
  'create index runs_not_opened on runs (created_at) where opened_at is null and terminal is null',

  `create table journal (
    tenant text not null,
    run text not null,
    position bigint not null,
    kind text not null,
    seq integer,
    event_id text,
    body json not null,
    recorded_at timestamptz not null,
    primary key (tenant, run, position),
    check (case kind when 'machine' then seq is not null and event_id is null else seq is null and event_id is not null end)
  )`,
  'create unique index journal_by_seq on journal (tenant, run, seq) where seq is not null',
  'create unique index journal_by_event on journal (tenant, run, event_id) where event_id is not null',

  `create table artifacts (
    tenant text not null,
    hash text not null,
    media_type text not null,
    bytes bytea not null,
    stored_at timestamptz not null,
    primary key (tenant, hash)
  )`,

  `create table attempts (
    tenant text not null,
    run text not null,
    step integer not null,
    attempt integer not null,
    state text not null,
    context text not null,
    candidate text,
    outcome json,
    opened_at timestamptz not null,
    ended_at timestamptz,
    primary key (tenant, run, step, attempt)
  ) with (fillfactor = 80)`,

  `create table ledger (
    tenant text not null,
    run text not null,
    reference text not null,
    entry bigint not null generated always as identity,
    kind text not null,
    is_open boolean not null,
    is_estimate boolean not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cache_read_tokens bigint not null,
    cache_write_tokens bigint not null,
    cost_micros bigint not null,
    primary key (tenant, run, reference)
  ) with (fillfactor = 80)`,

  `create table decisions (
    tenant text not null,
    run text not null,
    step integer not null,
    id text not null,
    entry bigint not null generated always as identity,
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
    decided_at timestamptz not null,
    primary key (tenant, run, step, id)
  )`,

  `create table operations (
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
    is_named boolean not null default false,
    state text not null,
    is_open boolean not null generated always as (state not in ('SUCCEEDED', 'FAILED', 'CANCELLED', 'REFUSED')) stored,
    generation integer not null default 0,
    open_generations integer[] not null default '{}',
    decisions text[] not null default '{}',
    cancelled_by text,
    -- The approval that brought other arguments than were proposed.
    edited_by text,
    job text,
    code text,
    raw text,
    output text,
    failure text,
    result_hash text,
    evidence text,
    created_at timestamptz not null,
    first_dispatched_at timestamptz,
    dispatched_at timestamptz,
    dispatch_deadline_at timestamptz,
    not_before_at timestamptz,
    look_ups integer not null default 0,
    polls integer not null default 0,
    primary key (tenant, run, step, ordinal)
  ) with (fillfactor = 70)`,
  // The few of a run that somebody still has to do something about.
  'create index operations_open on operations (tenant, run) where is_open',
  'create index operations_by_arguments on operations (argument_hash, tenant, run)',

  `create table facts (
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
    is_carried boolean not null default false,
    recorded_at timestamptz not null,
    primary key (tenant, run, source, index)
  )`,

  `create table waits (
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
    opened_at timestamptz not null,
    expires_at timestamptz not null,
    response json,
    response_id text,
    primary key (tenant, run, id)
  )`,
  'create index waits_by_opening on waits (tenant, opened_at desc, seq desc, id desc)',
  "create index waits_open on waits (tenant, opened_at desc, seq desc, id desc) where state = 'OPEN'",

  `create table messages (
    tenant text not null,
    run text not null,
    id text not null,
    kind text not null,
    body json not null,
    plan_version integer not null,
    accepted_at timestamptz not null,
    primary key (tenant, run, id)
  )`,
  'create unique index messages_by_plan on messages (tenant, run, plan_version)',

  // Every response that arrived, with its verdict: asked again under its id it gets the same one.
  `create table responses (
    tenant text not null,
    run text not null,
    id text not null,
    wait text not null,
    principal json not null,
    body json not null,
    received_at timestamptz not null,
    verdict text not null,
    message text,
    primary key (tenant, run, id)
  )`,

  // What the outside reported about an operation. Kept whatever has become of the run; settled by an activity.
  `create table inbox (
    tenant text not null,
    run text not null,
    operation text not null,
    event_id text not null,
    job text,
    body text not null,
    position bigint not null,
    received_at timestamptz not null,
    settled_at timestamptz,
    effect text,
    primary key (tenant, run, operation, event_id)
  )`,
  'create index inbox_unsettled on inbox (tenant, run, operation, position) where settled_at is null',

  // Signals that are owed to a workflow: written with what they are about, sent again until the workflow has seen it.
  `create table wakes (
    tenant text not null,
    run text not null,
    kind text not null,
    subject text not null,
    due_at timestamptz not null,
    tries integer not null default 0,
    primary key (tenant, run, kind, subject)
  )`,
  'create index wakes_by_due on wakes (due_at)',

  `create table results (
    tenant text not null,
    run text not null,
    version integer not null,
    artifact text not null,
    recorded_at timestamptz not null,
    primary key (tenant, run, version)
  )`,
];

export const initial: StoreMigration = {
  isBreaking: false,
  up: async (db: Kysely<unknown>) => {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
