-- Crashes: a suspect is a task one of whose holders has gone without a word. It is claimed alone,
-- and only when its lease expires then, the crash is charged to it.

-- Takes up to p_rows suspects whose lease has expired back: the crash is charged, the payload's ban
-- counted, and at p_crashes_max crashes the task is a dead letter with the reason `crashed`. Before
-- it is claimed again it waits 1 s, 4 s, 16 s and so on. Waiting suspects of a banned payload end
-- too. One call at a time works; another one returns zeros.
-- Locks: one advisory lock, then those rows, SKIP LOCKED. Index: safety_tasks_suspects.
CREATE FUNCTION message_safety.rescue_suspects(
  p_rows integer, p_crashes_max integer, p_ban_ms bigint, p_disposition text,
  p_keep_payload boolean, p_has_audit boolean)
RETURNS TABLE (rescued bigint, dead bigint, banned bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  c_delay_s_max CONSTANT integer := 3600;
  v_task record;
  v_now timestamptz := clock_timestamp();
  v_is_banned boolean;
BEGIN
  rescued := 0;
  dead := 0;
  banned := 0;
  IF NOT pg_try_advisory_xact_lock(hashtextextended('message_safety.rescue_suspects', 0)) THEN
    RETURN NEXT;
    RETURN;
  END IF;
  FOR v_task IN
    SELECT t.id, t.generation, t.lease_token, t.holder, t.crashes, t.kind,
           octet_length(t.payload) AS bytes, fingerprint(t.kind, t.payload) AS print
    FROM safety_tasks t
    WHERE t.suspect AND t.lease_until < v_now ORDER BY t.run_at, t.id
    LIMIT p_rows FOR UPDATE SKIP LOCKED
  LOOP
    INSERT INTO payload_bans AS b (fingerprint, kind, payload_bytes, holders, last_crash_at,
                                   disposition)
    VALUES (v_task.print, v_task.kind, v_task.bytes, ARRAY[v_task.holder], v_now, p_disposition)
    ON CONFLICT (fingerprint) DO UPDATE
    SET holders = CASE WHEN b.last_crash_at < v_now - interval '7 days' THEN EXCLUDED.holders
                       WHEN v_task.holder = ANY (b.holders) OR cardinality(b.holders) > 7
                         THEN b.holders
                       ELSE b.holders || v_task.holder END,
        last_crash_at = v_now, disposition = p_disposition;
    UPDATE payload_bans b SET banned_until = v_now + p_ban_ms * interval '1 millisecond'
    WHERE b.fingerprint = v_task.print AND cardinality(b.holders) > 1
    RETURNING true INTO v_is_banned;
    IF v_is_banned THEN
      banned := banned + 1;
    END IF;
    IF p_has_audit THEN
      INSERT INTO audit (at, event, task_id, generation, token, holder)
      VALUES (v_now, 'crashed', v_task.id, v_task.generation, v_task.lease_token, v_task.holder);
    END IF;
    IF v_task.crashes + 1 >= p_crashes_max THEN
      UPDATE safety_tasks t SET crashes = LEAST(t.crashes, 32766) + 1 WHERE t.id = v_task.id;
      PERFORM end_suspect(v_task.id, 'crashed', p_disposition, p_keep_payload, p_has_audit);
      dead := dead + 1;
    ELSE
      UPDATE safety_tasks t
      SET state = 'queued', generation = LEAST(t.generation, 9223372036854775806) + 1,
          lease_token = NULL, lease_until = NULL, holder = NULL, crashes = t.crashes + 1,
          run_at = LEAST(t.decide_by, v_now + interval '1 second'
                         * LEAST(c_delay_s_max, 4 ^ LEAST(t.crashes, 10)))
      WHERE t.id = v_task.id;
      rescued := rescued + 1;
    END IF;
  END LOOP;
  IF EXISTS (SELECT FROM payload_bans WHERE banned_until > v_now) THEN
    FOR v_task IN
      SELECT t.id, b.disposition FROM safety_tasks t JOIN payload_bans b ON b.kind = t.kind
      WHERE t.suspect AND t.lease_token IS NULL AND b.banned_until > v_now
        -- The length is known without reading the payload, so few are read and hashed.
        AND CASE WHEN octet_length(t.payload) = b.payload_bytes
                 THEN fingerprint(t.kind, t.payload) = b.fingerprint ELSE false END
      LIMIT p_rows FOR UPDATE OF t SKIP LOCKED
    LOOP
      PERFORM end_suspect(v_task.id, 'quarantined', v_task.disposition, p_keep_payload,
                          p_has_audit);
      dead := dead + 1;
    END LOOP;
  END IF;
  RETURN NEXT;
END
$$;

-- Ends one suspect, whose row the caller has locked, as a dead letter.
CREATE FUNCTION message_safety.end_suspect(
  p_id uuid, p_reason text, p_disposition text, p_keep_payload boolean, p_has_audit boolean)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
  WITH gone AS (DELETE FROM safety_tasks WHERE id = p_id RETURNING *),
  kept AS (
    INSERT INTO payloads (task_id, finished_at, kind, payload)
    SELECT id, clock_timestamp(), kind, payload FROM gone WHERE p_keep_payload),
  noted AS (
    INSERT INTO audit (at, event, task_id, generation, token, holder, detail)
    SELECT clock_timestamp(), 'dead', id, generation, lease_token, holder, p_reason FROM gone
    WHERE p_has_audit)
  INSERT INTO results (task_id, generation, finished_at, submitted_at, subject_version, state,
                       attempt, crashes, class, lane, kind, subject_id, redrive_of, decision,
                       disposition, reason)
  SELECT id, LEAST(generation, 9223372036854775806) + 1, clock_timestamp(), submitted_at,
         subject_version, 'dead', attempt, crashes, class, lane, kind, subject_id, redrive_of,
         'indeterminate', p_disposition, p_reason
  FROM gone
$$;
