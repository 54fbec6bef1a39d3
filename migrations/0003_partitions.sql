-- Day partitions of results, payloads and audit, made ahead of time by any worker, and dropped
-- whole when their time has passed.

-- Makes the partitions of today and the coming days (UTC). A day whose rows already lie in the
-- DEFAULT partition would block its own partition, so such rows move first. Returns partitions made
-- and rows moved. Locks: one transaction-level advisory lock; the DEFAULT partition exclusively, at
-- most 2 s of waiting.
CREATE FUNCTION message_safety.maintain_partitions(p_days_ahead integer DEFAULT 8)
RETURNS TABLE (partitions_made integer, rows_moved bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET lock_timeout = '2s'
SET timezone = 'UTC'
AS $$
DECLARE
  v_table text;
  v_column text;
  v_day date;
  v_name text;
  v_moved bigint;
BEGIN
  partitions_made := 0;
  rows_moved := 0;
  PERFORM pg_advisory_xact_lock(hashtextextended('message_safety.maintain_partitions', 0));
  FOREACH v_table IN ARRAY ARRAY['results', 'payloads', 'audit'] LOOP
    v_column := CASE v_table WHEN 'audit' THEN 'at' ELSE 'finished_at' END;
    FOR v_day IN
      SELECT d::date FROM generate_series(now()::date, now()::date + LEAST(p_days_ahead, 60),
                                          interval '1 day') AS d
    LOOP
      v_name := v_table || '_' || to_char(v_day, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('message_safety.%I', v_name)) IS NOT NULL;
      EXECUTE format('LOCK TABLE message_safety.%I IN ACCESS EXCLUSIVE MODE',
                     v_table || '_default');
      EXECUTE format('CREATE TABLE message_safety.%I (LIKE message_safety.%I INCLUDING ALL)',
                     v_name, v_table);
      EXECUTE format(
        'WITH moved AS (DELETE FROM message_safety.%I WHERE %I >= %L AND %I < %L RETURNING *)
         INSERT INTO message_safety.%I SELECT * FROM moved',
        v_table || '_default', v_column, v_day, v_column, v_day + 1, v_name);
      GET DIAGNOSTICS v_moved = ROW_COUNT;
      EXECUTE format('ALTER TABLE message_safety.%I ATTACH PARTITION message_safety.%I
                      FOR VALUES FROM (%L) TO (%L)', v_table, v_name, v_day, v_day + 1);
      partitions_made := partitions_made + 1;
      rows_moved := rows_moved + v_moved;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END
$$;

-- Removes what is older than its days: partitions whole, other rows up to p_rows a table and call.
-- Nothing of an unfinished task is ever removed: its row is in none of these tables, and its key
-- and version stay (R27). The least days are what the queue itself needs: results answer retries of
-- completions, verdicts outlive the longest time to live of a cached value. A partition that
-- somebody reads for long is left to the next call.
-- Locks: one advisory lock; each partition and its parent exclusively, at most 500 ms of waiting;
-- the rows removed, SKIP LOCKED. Index: the block ranges of the times; live tasks by their primary
-- key, as scalar subqueries, which no join can turn into a scan of the whole hot table.
CREATE FUNCTION message_safety.apply_retention(
  p_results_days integer, p_payload_days integer, p_verdict_days integer, p_audit_days integer,
  p_submission_days integer, p_rows integer DEFAULT 10000)
RETURNS TABLE (partitions_dropped integer, partitions_busy integer, verdicts bigint,
               submissions bigint, subject_heads bigint, other_rows bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, message_safety, pg_temp
SET lock_timeout = '500ms'
SET timezone = 'UTC'
SET enable_seqscan = off
SET enable_bitmapscan = on
AS $$
#variable_conflict use_column
DECLARE
  v_table record;
  v_partition record;
  v_count bigint;
BEGIN
  partitions_dropped := 0;
  partitions_busy := 0;
  verdicts := 0;
  submissions := 0;
  subject_heads := 0;
  other_rows := 0;
  IF NOT pg_try_advisory_xact_lock(hashtextextended('message_safety.apply_retention', 0)) THEN
    RETURN NEXT;
    RETURN;
  END IF;
  DELETE FROM verdicts WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM verdicts WHERE decided_at < now() - GREATEST(p_verdict_days, 31)
      * interval '1 day' LIMIT p_rows FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_count = ROW_COUNT;
  verdicts := v_count;
  DELETE FROM submissions WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM submissions s WHERE s.submitted_at < now() - GREATEST(p_submission_days, 1)
      * interval '1 day'
      AND (SELECT true FROM safety_tasks t WHERE t.id = s.task_id) IS NULL
    LIMIT p_rows FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_count = ROW_COUNT;
  submissions := v_count;
  DELETE FROM subject_heads WHERE ctid = ANY (ARRAY(
    SELECT h.ctid FROM subject_heads h WHERE h.changed_at < now() - GREATEST(p_submission_days, 1)
      * interval '1 day'
      AND (SELECT true FROM safety_tasks t WHERE t.id = h.task_id) IS NULL
    LIMIT p_rows FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_count = ROW_COUNT;
  subject_heads := v_count;
  DELETE FROM payload_bans b WHERE b.last_crash_at < now() - interval '7 days'
    AND coalesce(b.banned_until, '-infinity') < now();
  GET DIAGNOSTICS v_count = ROW_COUNT;
  other_rows := other_rows + v_count;

  -- Last, because the lock of the parent holds up whoever finishes tasks until the commit.
  FOR v_table IN
    SELECT * FROM (VALUES ('results', 'finished_at', GREATEST(p_results_days, 3)),
                          ('payloads', 'finished_at', GREATEST(p_payload_days, 0)),
                          ('audit', 'at', GREATEST(p_audit_days, 1))) AS t(name, time_column, days)
  LOOP
    FOR v_partition IN
      SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = format('message_safety.%I', v_table.name)::regclass
        AND c.relname ~ ('^' || v_table.name || '_[0-9]{8}$')
        AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= now()::date - v_table.days
      ORDER BY c.relname
    LOOP
      BEGIN
        EXECUTE format('DROP TABLE message_safety.%I', v_partition.relname);
        partitions_dropped := partitions_dropped + 1;
      EXCEPTION WHEN lock_not_available THEN
        partitions_busy := partitions_busy + 1;
      END;
    END LOOP;
    EXECUTE format('WITH gone AS (DELETE FROM message_safety.%1$I WHERE ctid = ANY (ARRAY(
                      SELECT ctid FROM message_safety.%1$I
                      WHERE %2$I < now() - %3$L * interval ''1 day''
                      LIMIT %4$s FOR UPDATE SKIP LOCKED)) RETURNING 1)
                    SELECT count(*) FROM gone',
                   v_table.name || '_default', v_table.time_column, v_table.days, p_rows)
      INTO v_count;
    other_rows := other_rows + v_count;
  END LOOP;
  RETURN NEXT;
END
$$;

SELECT message_safety.maintain_partitions();
