-- Roles: what each may do. `safetyctl migrate --roles` calls this; names are configurable.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA message_safety FROM PUBLIC;

-- Makes the four NOLOGIN roles if absent, gives the schema to the owner and grants each the least
-- it needs. Requires: CREATEROLE, and ownership of the schema. As superuser it also keeps bind
-- parameters and row contents out of this database's server log (they would carry message texts).
-- Idempotent.
CREATE FUNCTION message_safety.apply_roles(
  p_owner text DEFAULT 'message_safety_owner',
  p_worker text DEFAULT 'message_safety_worker',
  p_api text DEFAULT 'message_safety_api',
  p_readonly text DEFAULT 'message_safety_readonly')
RETURNS boolean  -- true when the log settings could be made
LANGUAGE plpgsql
SET search_path = pg_catalog, message_safety, pg_temp
AS $$
DECLARE
  v_role text;
  v_object record;
  v_is_superuser boolean := current_setting('is_superuser') = 'on';
BEGIN
  FOREACH v_role IN ARRAY ARRAY[p_owner, p_worker, p_api, p_readonly] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = v_role) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA message_safety TO %I', v_role);
  END LOOP;
  IF NOT v_is_superuser THEN
    EXECUTE format('GRANT %I TO CURRENT_USER', p_owner);
  END IF;

  EXECUTE format('ALTER SCHEMA message_safety OWNER TO %I', p_owner);
  EXECUTE format('ALTER TYPE message_safety.task_state OWNER TO %I', p_owner);
  FOR v_object IN
    SELECT c.oid::regclass AS name FROM pg_class c
    WHERE c.relnamespace = 'message_safety'::regnamespace AND c.relkind IN ('r', 'p')
  LOOP
    EXECUTE format('ALTER TABLE %s OWNER TO %I', v_object.name, p_owner);
  END LOOP;
  FOR v_object IN
    SELECT p.oid::regprocedure AS name FROM pg_proc p
    WHERE p.pronamespace = 'message_safety'::regnamespace
      AND (v_is_superuser OR pg_has_role(p.proowner, 'MEMBER'))
  LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO %I', v_object.name, p_owner);
  END LOOP;
  -- Sessions of others are visible to the read-only role alone, so its function tells their age. It
  -- stays so when somebody who is no superuser calls this again.
  IF v_is_superuser THEN
    EXECUTE format('ALTER FUNCTION message_safety.snapshot_age_ms() OWNER TO %I', p_readonly);
  END IF;

  EXECUTE format('GRANT SELECT, UPDATE, DELETE ON message_safety.safety_tasks TO %I', p_worker);
  EXECUTE format('GRANT SELECT, INSERT ON message_safety.results, message_safety.verdicts TO %I',
                 p_worker);
  EXECUTE format('GRANT INSERT ON message_safety.payloads, message_safety.completion_log,
                  message_safety.audit TO %I', p_worker);
  EXECUTE format('GRANT SELECT ON message_safety.callers, message_safety.results_default,
                  message_safety.paused_kinds TO %I', p_worker);
  EXECUTE format('GRANT EXECUTE ON FUNCTION message_safety.maintain_partitions(integer),
    message_safety.apply_retention(integer, integer, integer, integer, integer, integer),
    message_safety.rescue_suspects(integer, integer, bigint, text, boolean, boolean),
    message_safety.unpause(integer), message_safety.snapshot_age_ms() TO %I', p_worker);

  EXECUTE format('GRANT EXECUTE ON FUNCTION
    message_safety.submit_tasks(text, text[], bytea[], uuid[], text[], text[], bigint[], smallint[],
                                smallint[], bigint[], bigint[]),
    message_safety.cancel_task(uuid), message_safety.uuid_v7(),
    message_safety.snapshot_age_ms() TO %I', p_api);
  EXECUTE format('GRANT SELECT ON message_safety.results, message_safety.verdicts,
                  message_safety.callers, message_safety.results_default,
                  message_safety.paused_kinds TO %I', p_api);
  FOREACH v_role IN ARRAY ARRAY[p_api, p_readonly] LOOP
    -- Everything of a live task but its payload.
    EXECUTE format('GRANT SELECT (id, generation, run_at, decide_by, lease_until, submitted_at,
                    subject_version, state, attempt, class, lane, parked, suspect, paused,
                    crashes, kind, redrive_of, last_failure)
                    ON message_safety.safety_tasks TO %I', v_role);
  END LOOP;
  EXECUTE format('GRANT SELECT ON message_safety.results, message_safety.results_default,
                  message_safety.verdicts, message_safety.callers, message_safety.paused_kinds,
                  message_safety.audit TO %I', p_readonly);
  EXECUTE format('GRANT EXECUTE ON FUNCTION message_safety.snapshot_age_ms() TO %I, %I', p_owner,
                 p_readonly);
  IF v_is_superuser THEN
    EXECUTE format('GRANT pg_read_all_stats TO %I', p_readonly);
    EXECUTE format('ALTER DATABASE %I SET log_parameter_max_length = 0', current_database());
    EXECUTE format('ALTER DATABASE %I SET log_parameter_max_length_on_error = 0',
                 current_database());
    EXECUTE format('ALTER DATABASE %I SET log_error_verbosity = ''terse''', current_database());
  END IF;
  RETURN v_is_superuser;
END
$$;
REVOKE ALL ON FUNCTION message_safety.apply_roles(text, text, text, text) FROM PUBLIC;
