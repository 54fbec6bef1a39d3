-- What operators do to single tasks and kinds. Each act is written into audit with the login role.

-- Cancels one live task. False: there is no live task of this id (unknown or finished).
-- Locks: the task's row; waits for a holder's transaction. Index: primary key.
CREATE FUNCTION message_safety.cancel_task(p_id uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
BEGIN
  IF NOT coalesce(end_task(p_id, 'cancelled'), false) THEN
    RETURN false;
  END IF;
  INSERT INTO audit (at, event, task_id, actor)
  VALUES (clock_timestamp(), 'cancelled', p_id, session_user);
  RETURN true;
END
$$;

-- Lets no task of a kind be claimed from now on; those that are leased go on. False: it was paused
-- before. Its rows leave the claim index by and by (maintenance, or park_paused).
-- Locks: one row of paused_kinds.
CREATE FUNCTION message_safety.pause_kind(p_kind text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
BEGIN
  IF p_kind IS NULL OR p_kind !~ '^[a-z][a-z_]{0,31}$' THEN
    RAISE EXCEPTION 'a kind is 1-32 characters of a-z and _, a letter first'
      USING ERRCODE = 'HS001';
  END IF;
  INSERT INTO paused_kinds (kind, paused_at, actor)
  VALUES (p_kind, clock_timestamp(), session_user) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO audit (at, event, actor, detail)
  VALUES (clock_timestamp(), 'paused', session_user, p_kind);
  RETURN true;
END
$$;

-- Lets a kind be claimed again. False: it was not paused. Its rows come back into the claim index
-- by and by (maintenance, or unpause). Locks: one row of paused_kinds.
CREATE FUNCTION message_safety.resume_kind(p_kind text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
BEGIN
  DELETE FROM paused_kinds WHERE kind = p_kind;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO audit (at, event, actor, detail)
  VALUES (clock_timestamp(), 'resumed', session_user, p_kind);
  RETURN true;
END
$$;

-- Makes a new task of each dead letter or expired task whose payload was kept. Returns a row an id:
--   redriven     new_id is the new task
--   not_found    no finished task has this id
--   not_dead     it ended otherwise, or lives
--   again        it was redriven before: new_id is that task
--   no_payload   its payload was erased
--   superseded   a newer version of its subject is known
--   quarantined  its payload has crashed processes and is refused for now
-- Locks: the results' rows and subject heads in the order of subjects, as submits do; waits.
-- Index: results_task, payloads_task, primary keys.
CREATE FUNCTION message_safety.redrive_tasks(p_ids uuid[])
RETURNS TABLE (old_id uuid, new_id uuid, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_result record;
  v_payload bytea;
  v_now timestamptz := clock_timestamp();
BEGIN
  FOR old_id IN
    SELECT u.id FROM (SELECT DISTINCT g.id FROM unnest(p_ids) AS g(id) WHERE g.id IS NOT NULL) u
    LEFT JOIN LATERAL (SELECT x.lane / 256 AS caller, x.subject_id FROM results x
                       WHERE x.task_id = u.id LIMIT 1) r ON true
    ORDER BY r.caller, r.subject_id, u.id
  LOOP
    new_id := NULL;
    SELECT r.* INTO v_result FROM results r WHERE r.task_id = old_id FOR UPDATE;
    IF NOT FOUND THEN
      outcome := CASE WHEN EXISTS (SELECT FROM safety_tasks t WHERE t.id = old_id)
                      THEN 'not_dead' ELSE 'not_found' END;
      RETURN NEXT;
      CONTINUE;
    END IF;
    SELECT p.payload INTO v_payload FROM payloads p WHERE p.task_id = old_id;
    outcome := CASE
      WHEN v_result.state NOT IN ('dead', 'expired') THEN 'not_dead'
      WHEN v_result.redriven_to IS NOT NULL THEN 'again'
      WHEN NOT FOUND THEN 'no_payload'
      WHEN EXISTS (SELECT FROM payload_bans b WHERE b.banned_until > v_now
                   AND b.fingerprint = fingerprint(v_result.kind, v_payload)) THEN 'quarantined'
      ELSE 'redriven' END;
    new_id := v_result.redriven_to;
    IF outcome = 'redriven' THEN
      new_id := uuid_v7();
      IF v_result.subject_id IS NOT NULL THEN
        UPDATE subject_heads h SET task_id = new_id, changed_at = v_now
        WHERE h.caller = v_result.lane / 256 AND h.subject_id = v_result.subject_id
          AND h.version = v_result.subject_version;
        IF NOT FOUND AND EXISTS (
          SELECT FROM subject_heads h WHERE h.caller = v_result.lane / 256
            AND h.subject_id = v_result.subject_id AND h.version > v_result.subject_version) THEN
          new_id := NULL;
          outcome := 'superseded';
        END IF;
      END IF;
    END IF;
    IF outcome = 'redriven' THEN
      INSERT INTO safety_tasks (id, run_at, decide_by, submitted_at, subject_version, class, lane,
                                parked, paused, kind, subject_id, redrive_of, payload)
      SELECT new_id, v_now, v_now + interval '24 hours', v_now, v_result.subject_version,
             v_result.class, v_result.lane, p.is_paused, p.is_paused, v_result.kind,
             v_result.subject_id, old_id, v_payload
      FROM (SELECT EXISTS (SELECT FROM paused_kinds k WHERE k.kind = v_result.kind)) p(is_paused);
      UPDATE results r SET redriven_to = new_id WHERE r.task_id = old_id;
      INSERT INTO audit (at, event, task_id, actor, detail)
      VALUES (v_now, 'redriven', old_id, session_user, new_id::text);
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;

-- Lets a task that waits for its time run now; a dead one is redriven. Outcomes: ready (a live task
-- is claimable now), leased, paused, suspect (it waits to be claimed alone), else as
-- redrive_tasks(). Locks: the task's row; waits. Index: primary key.
CREATE FUNCTION message_safety.retry_task(p_id uuid)
RETURNS TABLE (new_id uuid, outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  v_task record;
BEGIN
  SELECT t.state, t.paused, t.suspect, t.parked, t.kind INTO v_task
  FROM safety_tasks t WHERE t.id = p_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT r.new_id, r.outcome FROM redrive_tasks(ARRAY[p_id]) r;
    RETURN;
  END IF;
  outcome := CASE WHEN v_task.state = 'leased' THEN 'leased'
                  WHEN v_task.suspect THEN 'suspect'
                  WHEN v_task.paused OR EXISTS (SELECT FROM paused_kinds k
                                                WHERE k.kind = v_task.kind) THEN 'paused'
                  ELSE 'ready' END;
  IF v_task.state = 'queued' THEN
    UPDATE safety_tasks SET run_at = clock_timestamp(), parked = v_task.paused OR v_task.suspect
    WHERE id = p_id;
    INSERT INTO audit (at, event, task_id, actor)
    VALUES (clock_timestamp(), 'retried', p_id, session_user);
  END IF;
  RETURN NEXT;
END
$$;

-- Removes a task's payload and what is derived from it, here and in the tasks that it was redriven
-- to or from: live ones are cancelled, kept payloads deleted, the digests of keys and versions made
-- to fit nothing. Results, verdicts (which hold a keyed hash) and audit stay; so does a payload
-- ban. is_known: false when no task has this id.
-- Locks: the subject's head, which they share, before the tasks, as a submit that supersedes them;
-- then the tasks' rows in id order; waits. Index: primary keys, payloads_task, results_task; of
-- submissions those as young as the task.
CREATE FUNCTION message_safety.erase_task(p_id uuid)
RETURNS TABLE (is_known boolean, was_live boolean, payloads_erased bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
  v_id uuid;
  v_subject record;
  v_result record;
  v_count bigint;
BEGIN
  is_known := false;
  was_live := false;
  payloads_erased := 0;
  SELECT s.lane, s.subject_id INTO v_subject FROM (
    SELECT t.lane, t.subject_id FROM safety_tasks t WHERE t.id = p_id
    UNION ALL
    SELECT r.lane, r.subject_id FROM results r WHERE r.task_id = p_id) s;
  PERFORM FROM subject_heads h
  WHERE h.caller = v_subject.lane / 256 AND h.subject_id = v_subject.subject_id FOR UPDATE;
  FOR v_id IN
    WITH RECURSIVE chain (id) AS (
      SELECT p_id
      UNION
      SELECT next.id FROM chain c CROSS JOIN LATERAL (
        SELECT unnest(ARRAY[r.redrive_of, r.redriven_to]) AS id FROM results r
        WHERE r.task_id = c.id
        UNION ALL
        SELECT t.redrive_of FROM safety_tasks t WHERE t.id = c.id) next
      WHERE next.id IS NOT NULL)
    SELECT id FROM chain ORDER BY id
  LOOP
    was_live := coalesce(end_task(v_id, 'cancelled'), false) OR was_live;
    DELETE FROM payloads WHERE task_id = v_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    payloads_erased := payloads_erased + v_count;
    SELECT r.submitted_at, r.lane, r.subject_id INTO v_result FROM results r
    WHERE r.task_id = v_id;
    CONTINUE WHEN NOT FOUND;
    is_known := true;
    UPDATE submissions SET digest = sha256(uuid_send(gen_random_uuid()))
    WHERE task_id = v_id AND submitted_at >= v_result.submitted_at;
    UPDATE subject_heads SET digest = sha256(uuid_send(gen_random_uuid()))
    WHERE caller = v_result.lane / 256 AND subject_id = v_result.subject_id AND task_id = v_id;
    INSERT INTO audit (at, event, task_id, actor)
    VALUES (clock_timestamp(), 'erased', v_id, session_user);
  END LOOP;
  RETURN NEXT;
END
$$;

-- Lets the paused rows of kinds go that are not paused (any more), up to p_rows a kind; returns how
-- many. Locks: those rows, SKIP LOCKED. Index: safety_tasks_paused, kind by kind.
CREATE FUNCTION message_safety.unpause(p_rows integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
  v_kind text := '';
  v_count bigint;
  v_total bigint := 0;
BEGIN
  LOOP
    SELECT kind INTO v_kind FROM safety_tasks WHERE paused AND kind > v_kind
    ORDER BY kind, id LIMIT 1;
    EXIT WHEN NOT FOUND;
    CONTINUE WHEN EXISTS (SELECT FROM paused_kinds k WHERE k.kind = v_kind);
    UPDATE safety_tasks
    SET paused = false, parked = suspect OR run_at > clock_timestamp()
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM safety_tasks WHERE paused AND kind = v_kind
                            ORDER BY kind, id LIMIT p_rows FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_total := v_total + v_count;
  END LOOP;
  RETURN v_total;
END
$$;

-- Age in ms of the oldest snapshot that keeps dead rows from being removed: sessions of this
-- database and prepared transactions. Its owner needs pg_read_all_stats (see 0006_roles.sql).
CREATE FUNCTION message_safety.snapshot_age_ms() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - s.since) * 1000), 0)::bigint
  FROM (SELECT xact_start AS since FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
        UNION ALL
        SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) s
$$;
