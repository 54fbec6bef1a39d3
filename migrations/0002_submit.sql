-- Submitting, as a function: an API in any language calls it in its own transaction. Errors have
-- SQLSTATE HS001 and name the position of the task in the call, never its content.

-- Version 7 (RFC 9562 section 5.7): 48 bits of milliseconds, the rest random.
CREATE FUNCTION message_safety.uuid_v7() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              PLACING substring(
                int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
              FROM 1 FOR 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- Adds a caller; the same name again returns the same number. At most 64.
CREATE FUNCTION message_safety.register_caller(p_name text) RETURNS smallint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
DECLARE
  v_id smallint;
BEGIN
  LOCK TABLE callers IN SHARE ROW EXCLUSIVE MODE;
  SELECT id INTO v_id FROM callers WHERE name = p_name;
  IF NOT FOUND THEN
    IF p_name IS NULL OR p_name !~ '^[a-z][a-z0-9_-]{0,31}$' THEN
      RAISE EXCEPTION 'a caller is 1-32 characters of a-z, 0-9, _ and -, a letter first'
        USING ERRCODE = 'HS001';
    END IF;
    SELECT coalesce(max(id) + 1, 0) INTO v_id FROM callers;
    IF v_id > 63 THEN
      RAISE EXCEPTION 'there are 64 callers already' USING ERRCODE = 'HS001';
    END IF;
    INSERT INTO callers (id, name) VALUES (v_id, p_name);
  END IF;
  RETURN v_id;
END
$$;

-- What stands for a payload where the payload itself must not: its key's and its version's digest,
-- and the payload ban.
-- Without a search_path of its own, so that it can be inlined.
CREATE FUNCTION message_safety.fingerprint(p_kind text, p_payload bytea) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT pg_catalog.sha256(
    pg_catalog.convert_to(p_kind, 'UTF8') OPERATOR(pg_catalog.||) '\x00'::pg_catalog.bytea
    OPERATOR(pg_catalog.||) p_payload)
$$;

-- Ends live tasks for a reason that is not their holder's: the row leaves the hot table under its
-- lock, with a generation that no holder has and without a token, so a late holder finds its lease
-- lost.
CREATE FUNCTION message_safety.end_task(p_id uuid, p_state message_safety.task_state)
RETURNS boolean
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
  WITH gone AS (
    DELETE FROM safety_tasks WHERE id = p_id AND state IN ('queued', 'leased') RETURNING *)
  INSERT INTO results (task_id, generation, finished_at, submitted_at, subject_version, state,
                       attempt, crashes, class, lane, kind, subject_id, redrive_of)
  SELECT id, LEAST(generation, 9223372036854775806) + 1, clock_timestamp(), submitted_at,
         subject_version, p_state, attempt, crashes, class, lane, kind, subject_id, redrive_of
  FROM gone
  RETURNING true
$$;

-- Submits tasks in the caller's transaction: all or none. Arrays are parallel; NULL arrays and
-- elements take the default. Returns one row a task, numbered from 1 as given:
--   created     a new task
--   duplicate   the same task was submitted under this key, or this version of the subject,
--               before: its id
--   conflict    the key, or the version of the subject, stands for another payload: id of the
--               task that has it
--   superseded  a newer version of the subject is known: the task is born finished
--   quarantined this payload has crashed processes: the task is born finished, indeterminate
-- Locks: submissions in key order, then subject heads in subject order; both can wait for a
-- concurrent submit of the same keys. Index: the primary keys.
CREATE FUNCTION message_safety.submit_tasks(
  p_caller text,
  p_kinds text[],
  p_payloads bytea[],
  p_ids uuid[] DEFAULT NULL,
  p_keys text[] DEFAULT NULL,
  p_subject_ids text[] DEFAULT NULL,
  p_subject_versions bigint[] DEFAULT NULL,
  p_classes smallint[] DEFAULT NULL,
  p_fairness_buckets smallint[] DEFAULT NULL,
  p_run_after_ms bigint[] DEFAULT NULL,
  p_decide_within_ms bigint[] DEFAULT NULL)
RETURNS TABLE (ordinal integer, task_id uuid, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  c_payload_bytes_max CONSTANT integer := 2 * 1024 * 1024;
  c_delay_ms_max CONSTANT bigint := 30::bigint * 24 * 3600 * 1000;
  c_decide_ms_default CONSTANT bigint := 24 * 3600 * 1000;
  v_caller smallint;
  v_count integer := coalesce(array_length(p_kinds, 1), 0);
  v_bad integer;
  v_now timestamptz := clock_timestamp();
  v_ids uuid[];
  v_digests bytea[];
  v_repeats integer;
  v_taken text[];        -- keys that were free
  v_task_ids uuid[];     -- by position: the task that stands for the submission
  v_outcomes text[];     -- by position; NULL means: to be created
  v_paused text[];       -- kinds that are not claimed now
  v_has_bans boolean := EXISTS (SELECT FROM payload_bans WHERE banned_until > v_now);
  v_item record;
  v_head record;
  v_is_first boolean;    -- no version of the subject was known
BEGIN
  SELECT id INTO v_caller FROM callers WHERE name = p_caller;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'unknown caller' USING ERRCODE = 'HS001',
      HINT = 'An administrator adds callers: SELECT message_safety.register_caller(''name'').';
  END IF;
  IF coalesce(array_length(p_payloads, 1), 0) <> v_count THEN
    RAISE EXCEPTION 'kinds and payloads differ in length' USING ERRCODE = 'HS001';
  END IF;
  SELECT min(u.n) INTO v_bad
  FROM unnest(p_kinds, p_payloads, p_ids, p_keys, p_subject_ids, p_subject_versions, p_classes,
              p_fairness_buckets, p_run_after_ms, p_decide_within_ms) WITH ORDINALITY
    AS u(kind, payload, id, key, subject_id, subject_version, class, bucket, run_after, decide, n)
  WHERE u.n > v_count OR u.kind IS NULL OR u.kind !~ '^[a-z][a-z_]{0,31}$'
     OR u.payload IS NULL OR octet_length(u.payload) > c_payload_bytes_max
     OR octet_length(u.key) NOT BETWEEN 1 AND 200
     OR octet_length(u.subject_id) NOT BETWEEN 1 AND 200
     OR (u.subject_id IS NULL) <> (u.subject_version IS NULL)
     OR u.class NOT BETWEEN 0 AND 9 OR u.bucket NOT BETWEEN 0 AND 255
     OR u.run_after NOT BETWEEN 0 AND c_delay_ms_max
     OR u.decide NOT BETWEEN 1 AND c_delay_ms_max
     OR coalesce(u.run_after, 0) >= coalesce(u.decide, c_decide_ms_default);
  IF v_bad IS NOT NULL THEN
    RAISE EXCEPTION 'task % of the call is invalid', v_bad USING ERRCODE = 'HS001',
      HINT = 'See the limits of kind, payload, key, subject, class, fairness bucket and times.';
  END IF;

  -- A key that comes twice: all first comings with their subjects, then all second ones, and so on,
  -- a call each, in which no key comes twice.
  SELECT max(r.repeats) INTO v_repeats FROM (
    SELECT count(*) AS repeats FROM unnest(p_keys) AS k(key) WHERE k.key IS NOT NULL
    GROUP BY k.key) r;
  IF v_repeats > 1 THEN
    FOR v_place IN 1..v_repeats LOOP
      RETURN QUERY
      WITH item AS (
        SELECT u.*, CASE WHEN u.key IS NULL THEN 1
                         ELSE row_number() OVER (PARTITION BY u.key ORDER BY u.n) END AS place
        FROM unnest(p_kinds, p_payloads, p_ids, p_keys, p_subject_ids, p_subject_versions,
                    p_classes, p_fairness_buckets, p_run_after_ms, p_decide_within_ms)
          WITH ORDINALITY
          AS u(kind, payload, id, key, subject_id, version, class, bucket, run_after, decide, n)),
      part AS (
        SELECT array_agg(n ORDER BY n) AS ns, array_agg(kind ORDER BY n) AS kinds,
               array_agg(payload ORDER BY n) AS payloads, array_agg(id ORDER BY n) AS ids,
               array_agg(key ORDER BY n) AS keys, array_agg(subject_id ORDER BY n) AS subject_ids,
               array_agg(version ORDER BY n) AS versions, array_agg(class ORDER BY n) AS classes,
               array_agg(bucket ORDER BY n) AS buckets,
               array_agg(run_after ORDER BY n) AS run_afters,
               array_agg(decide ORDER BY n) AS decides
        FROM item WHERE place = v_place)
      SELECT part.ns[r.ordinal]::integer, r.task_id, r.outcome
      FROM part CROSS JOIN LATERAL submit_tasks(
        p_caller, part.kinds, part.payloads, part.ids, part.keys, part.subject_ids, part.versions,
        part.classes, part.buckets, part.run_afters, part.decides) r;
    END LOOP;
    RETURN;
  END IF;

  SELECT array_agg(coalesce(u.id, uuid_v7()) ORDER BY u.n) INTO v_ids
  FROM unnest(p_ids, p_kinds) WITH ORDINALITY AS u(id, kind, n);

  IF v_has_bans OR array_length(p_keys, 1) IS NOT NULL
     OR array_length(p_subject_ids, 1) IS NOT NULL THEN
    v_task_ids := v_ids;
    v_outcomes := array_fill(NULL::text, ARRAY[v_count]);
    SELECT array_agg(fingerprint(u.kind, u.payload) ORDER BY u.n) INTO v_digests
    FROM unnest(p_kinds, p_payloads) WITH ORDINALITY AS u(kind, payload, n);

    -- The key is taken first; whoever loses the race waits here and then sees the winner's row.
    WITH taken AS (
      INSERT INTO submissions (caller, key, task_id, digest, submitted_at)
      SELECT v_caller, u.key, u.id, u.digest, v_now
      FROM unnest(p_keys, v_ids, v_digests) AS u(key, id, digest)
      WHERE u.key IS NOT NULL ORDER BY u.key
      ON CONFLICT (caller, key) DO NOTHING RETURNING key)
    SELECT array_agg(key) INTO v_taken FROM taken;
    FOR v_item IN
      SELECT u.n, s.task_id, s.digest = u.digest AS is_equal
      FROM unnest(p_keys, v_digests) WITH ORDINALITY AS u(key, digest, n)
      CROSS JOIN LATERAL (SELECT x.task_id, x.digest FROM submissions x
                          WHERE x.caller = v_caller AND x.key = u.key LIMIT 1) s
      WHERE u.key <> ALL (coalesce(v_taken, '{}'))
    LOOP
      v_task_ids[v_item.n] := v_item.task_id;
      v_outcomes[v_item.n] := CASE WHEN v_item.is_equal THEN 'duplicate' ELSE 'conflict' END;
    END LOOP;

    FOR v_item IN
      SELECT u.n, u.subject_id, u.version, u.id, u.digest
      FROM unnest(p_subject_ids, p_subject_versions, v_ids, v_digests, v_outcomes) WITH ORDINALITY
        AS u(subject_id, version, id, digest, outcome, n)
      WHERE u.subject_id IS NOT NULL AND u.outcome IS NULL
      ORDER BY u.subject_id, u.version, u.n
    LOOP
      LOOP
        INSERT INTO subject_heads (caller, subject_id, version, task_id, digest, changed_at)
        VALUES (v_caller, v_item.subject_id, v_item.version, v_item.id, v_item.digest, v_now)
        ON CONFLICT (caller, subject_id) DO NOTHING;
        v_is_first := FOUND;
        EXIT WHEN v_is_first;
        -- Again, when retention removes the head between the two.
        SELECT h.version, h.task_id, h.digest INTO v_head FROM subject_heads h
        WHERE h.caller = v_caller AND h.subject_id = v_item.subject_id FOR UPDATE;
        EXIT WHEN FOUND;
      END LOOP;
      IF v_is_first THEN
        CONTINUE;
      ELSIF v_head.version < v_item.version THEN
        UPDATE subject_heads
        SET version = v_item.version, task_id = v_item.id, digest = v_item.digest,
            changed_at = v_now
        WHERE caller = v_caller AND subject_id = v_item.subject_id;
        PERFORM end_task(v_head.task_id, 'superseded');
        v_outcomes := (SELECT array_agg(CASE WHEN o.id = v_head.task_id AND o.outcome IS NULL
                                             THEN 'superseded' ELSE o.outcome END ORDER BY o.n)
                       FROM unnest(v_ids, v_outcomes) WITH ORDINALITY AS o(id, outcome, n));
      ELSIF v_head.version > v_item.version THEN
        v_outcomes[v_item.n] := 'superseded';
      ELSE
        v_task_ids[v_item.n] := v_head.task_id;
        v_outcomes[v_item.n] := CASE WHEN v_head.digest = v_item.digest THEN 'duplicate'
                                     ELSE 'conflict' END;
        -- The key taken above stands for the subject's task from now on; one of a refused payload
        -- stands for nothing.
        UPDATE submissions s SET task_id = v_head.task_id WHERE s.caller = v_caller
          AND s.key = p_keys[v_item.n] AND v_head.digest = v_item.digest;
        DELETE FROM submissions s WHERE s.caller = v_caller
          AND s.key = p_keys[v_item.n] AND v_head.digest <> v_item.digest;
      END IF;
    END LOOP;

    IF v_has_bans THEN
      FOR v_item IN
        SELECT u.n FROM unnest(v_digests, v_outcomes) WITH ORDINALITY AS u(digest, outcome, n)
        WHERE u.outcome IS NULL
          AND EXISTS (SELECT FROM payload_bans b
                      WHERE b.fingerprint = u.digest AND b.banned_until > v_now)
      LOOP
        v_outcomes[v_item.n] := 'quarantined';
      END LOOP;
    END IF;

    INSERT INTO results (task_id, generation, finished_at, submitted_at, subject_version, state,
                         attempt, class, lane, kind, subject_id, decision, disposition, reason)
    SELECT u.id, 0, clock_timestamp(), v_now, u.version,
           CASE u.outcome WHEN 'superseded' THEN 'superseded' ELSE 'dead' END::task_state, 0,
           coalesce(u.class, 1), v_caller * 256 + coalesce(u.bucket, 0), u.kind, u.subject_id,
           CASE u.outcome WHEN 'quarantined' THEN 'indeterminate' END, b.disposition,
           CASE u.outcome WHEN 'quarantined' THEN 'quarantined' END
    FROM unnest(v_ids, v_outcomes, v_digests, p_kinds, p_subject_ids, p_subject_versions,
                p_classes, p_fairness_buckets)
      AS u(id, outcome, digest, kind, subject_id, version, class, bucket)
    LEFT JOIN payload_bans b ON u.outcome = 'quarantined' AND b.fingerprint = u.digest
    WHERE u.outcome IN ('superseded', 'quarantined');
  END IF;

  SELECT array_agg(kind) INTO v_paused FROM paused_kinds;
  INSERT INTO safety_tasks (id, run_at, decide_by, submitted_at, subject_version, class, lane,
                            parked, paused, kind, subject_id, payload)
  SELECT u.id, v_now + coalesce(u.run_after, 0) * interval '1 millisecond',
         v_now + coalesce(u.decide, c_decide_ms_default) * interval '1 millisecond', v_now,
         u.version, coalesce(u.class, 1), v_caller * 256 + coalesce(u.bucket, 0),
         coalesce(u.run_after, 0) > 0 OR coalesce(u.kind = ANY (v_paused), false),
         coalesce(u.run_after, 0) = 0 AND coalesce(u.kind = ANY (v_paused), false),
         u.kind, u.subject_id, u.payload
  FROM unnest(v_ids, v_outcomes, p_kinds, p_payloads, p_subject_ids, p_subject_versions, p_classes,
              p_fairness_buckets, p_run_after_ms, p_decide_within_ms)
    AS u(id, outcome, kind, payload, subject_id, version, class, bucket, run_after, decide)
  WHERE u.outcome IS NULL;

  RETURN QUERY
  SELECT u.n::integer, coalesce(u.task_id, u.id), coalesce(u.outcome, 'created')
  FROM unnest(v_ids, v_task_ids, v_outcomes) WITH ORDINALITY AS u(id, task_id, outcome, n)
  ORDER BY u.n;
END
$$;
