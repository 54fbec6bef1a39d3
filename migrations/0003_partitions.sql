-- Day partitions of results and payloads, made ahead of time by any worker.

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
  v_day date;
  v_name text;
  v_moved bigint;
BEGIN
  partitions_made := 0;
  rows_moved := 0;
  PERFORM pg_advisory_xact_lock(hashtextextended('message_safety.maintain_partitions', 0));
  FOREACH v_table IN ARRAY ARRAY['results', 'payloads'] LOOP
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
        'WITH moved AS (DELETE FROM message_safety.%I WHERE finished_at >= %L AND finished_at < %L
                        RETURNING *)
         INSERT INTO message_safety.%I SELECT * FROM moved',
        v_table || '_default', v_day, v_day + 1, v_name);
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

SELECT message_safety.maintain_partitions();
