/**
 * Gateways among themselves. A node is an open store, a member a gateway that uses it. Leases go by the server's clock, and nobody is dead
 * within a lease of the server's start. Data lost with the server's last moments is registered again here, so commits do not wait for the
 * disk.
 */
export const MEMBERS = `
CREATE FUNCTION $S.relaxed() RETURNS void LANGUAGE sql VOLATILE AS
  $q$SELECT set_config('synchronous_commit', 'off', true)$q$;

CREATE FUNCTION $S.lease(ms bigint) RETURNS interval LANGUAGE sql IMMUTABLE AS $q$SELECT ms * interval '1 millisecond'$q$;

CREATE FUNCTION $S.living(p_lease bigint) RETURNS TABLE (holder text, node text) LANGUAGE sql VOLATILE AS $q$
  SELECT m.holder, m.node FROM $S.member m JOIN $S.node n ON n.id = m.node
  WHERE n.until > clock_timestamp() OR pg_postmaster_start_time() + $S.lease(p_lease) > clock_timestamp()
$q$;

-- Renews a lease: 'gone' where there is none, 'late' where the node may have passed for dead.
CREATE FUNCTION $S.renew(me text, p_lease bigint) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE v_until timestamptz; v_now timestamptz;
BEGIN
  SELECT n.until INTO v_until FROM $S.node n WHERE n.id = me FOR UPDATE;
  v_now := clock_timestamp();
  UPDATE $S.node n SET until = v_now + $S.lease(p_lease) WHERE n.id = me;
  RETURN CASE WHEN v_until IS NULL THEN 'gone' WHEN v_until < v_now THEN 'late' ELSE 'in time' END;
END $f$;

-- Says all of a node again. How its lease was before.
CREATE FUNCTION $S.register(me text, p_lease bigint, p_holders text[], p_keys text[]) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE v_lease text;
BEGIN
  PERFORM $S.relaxed();
  v_lease := $S.renew(me, p_lease);
  INSERT INTO $S.node AS n VALUES (me, clock_timestamp() + $S.lease(p_lease)) ON CONFLICT (id) DO UPDATE SET until = excluded.until;
  INSERT INTO $S.member AS m SELECT h, me FROM unnest(p_holders) h ON CONFLICT (holder) DO UPDATE SET node = excluded.node;
  DELETE FROM $S.member m WHERE m.node = me AND m.holder <> ALL (p_holders);
  INSERT INTO $S.follower SELECT k, me FROM unnest(p_keys) k ON CONFLICT DO NOTHING;
  DELETE FROM $S.follower f WHERE f.node = me AND NOT EXISTS (SELECT FROM unnest(p_keys) AS k (key) WHERE k.key = f.key);
  RETURN v_lease;
END $f$;

CREATE FUNCTION $S.unregister(me text) RETURNS void LANGUAGE sql VOLATILE AS $q$
  SELECT $S.relaxed();
  DELETE FROM $S.follower WHERE node = me;
  DELETE FROM $S.mail WHERE node = me;
  DELETE FROM $S.member WHERE node = me;
  DELETE FROM $S.node WHERE id = me;
$q$;

-- Rings one's own bell. Not with the renewal: a full disk takes no notification, and would end the lease.
CREATE FUNCTION $S.ring(me text) RETURNS void LANGUAGE sql VOLATILE AS $q$SELECT pg_notify('asg_' || me, 'p')$q$;

-- Renews a lease, and forgets what is over, and who is dead where it judges. How the lease was before, and the time.
CREATE FUNCTION $S.beat(me text, p_lease bigint, p_judges boolean) RETURNS text LANGUAGE plpgsql AS $f$
DECLARE v_lease text; v_now timestamptz := clock_timestamp(); v_dead text[];
BEGIN
  PERFORM $S.relaxed();
  v_lease := $S.renew(me, p_lease) || ' ' || $S.now_ms();
  WITH dead AS (
    SELECT n.id FROM $S.node n WHERE p_judges AND n.until < v_now - $S.lease(p_lease)
      AND pg_postmaster_start_time() < v_now - $S.lease(p_lease * 2) FOR UPDATE SKIP LOCKED
  ), gone AS (DELETE FROM $S.node n USING dead WHERE n.id = dead.id RETURNING n.id)
    SELECT array_agg(gone.id) INTO v_dead FROM gone;
  IF v_dead IS NOT NULL THEN
    DELETE FROM $S.member m WHERE m.node = ANY (v_dead);
    DELETE FROM $S.follower f WHERE f.node = ANY (v_dead);
    DELETE FROM $S.mail m WHERE m.node = ANY (v_dead);
  END IF;
  RETURN v_lease;
END $f$;

CREATE FUNCTION $S.join_member(me text, p_holder text) RETURNS void LANGUAGE sql VOLATILE AS $q$
  SELECT $S.relaxed();
  INSERT INTO $S.member AS m VALUES (p_holder, me) ON CONFLICT (holder) DO UPDATE SET node = excluded.node;
$q$;

CREATE FUNCTION $S.leave_member(p_holder text) RETURNS void LANGUAGE sql VOLATILE AS $q$
  SELECT $S.relaxed();
  DELETE FROM $S.member WHERE holder = p_holder;
$q$;

CREATE FUNCTION $S.follow(me text, p_begun text[], p_ended text[]) RETURNS void LANGUAGE sql VOLATILE AS $q$
  SELECT $S.relaxed();
  INSERT INTO $S.follower SELECT k, me FROM unnest(p_begun) k ON CONFLICT DO NOTHING;
  DELETE FROM $S.follower f WHERE f.node = me AND f.key = ANY (p_ended);
$q$;

-- Waits until what is being appended to sessions is: whoever appended has not seen who follows since.
CREATE FUNCTION $S.settle(p_keys text[]) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM $S.relaxed();
  PERFORM FROM $S.log g JOIN $S.session s ON s.log = g.id WHERE s.key = ANY (p_keys) ORDER BY g.id FOR SHARE OF g;
END $f$;

-- Sends each message to its holder, small ones with the notification itself. Whether anybody listens there.
CREATE FUNCTION $S.tell(p_holders text[], p_messages text[]) RETURNS boolean[] LANGUAGE plpgsql AS $f$
DECLARE v_node text; v_mail bigint; v_told boolean[] := '{}';
BEGIN
  PERFORM $S.relaxed();
  FOR i IN 1 .. cardinality(p_holders) LOOP
    SELECT n.id INTO v_node FROM $S.member m JOIN $S.node n ON n.id = m.node
      WHERE m.holder = p_holders[i] AND n.until > clock_timestamp();
    v_told := v_told || FOUND;
    CONTINUE WHEN NOT FOUND;
    IF octet_length(p_messages[i]) + octet_length(p_holders[i]) < 7900 THEN
      PERFORM pg_notify('asg_' || v_node, 'm' || p_holders[i] || E'\\n' || p_messages[i]);
    ELSE
      INSERT INTO $S.mail (node, holder, data) VALUES (v_node, p_holders[i], p_messages[i])
        RETURNING id INTO v_mail;
      PERFORM pg_notify('asg_' || v_node, 'r' || v_mail);
    END IF;
  END LOOP;
  RETURN v_told;
END $f$;

`;
