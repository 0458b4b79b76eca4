-- A store of schema version 2 as boto_waiters_plus 0.1.0 wrote it: waits that succeeded, used up their attempts,
-- are being polled and have not begun, one whose options are damaged, and two calls.
CREATE TABLE boto_waiters_definitions (
  digest VARCHAR(64) NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (digest)
);
CREATE TABLE boto_waiters_leases (
  id LEASE_KEY,
  worker VARCHAR(200) NOT NULL,
  expires DOUBLE PRECISION NOT NULL
);
CREATE TABLE boto_waiters_operations (
  id VARCHAR(32) NOT NULL,
  created DOUBLE PRECISION NOT NULL,
  deadline DOUBLE PRECISION NOT NULL,
  ended DOUBLE PRECISION,
  state VARCHAR(32) NOT NULL,
  label TEXT NOT NULL,
  service VARCHAR(100) NOT NULL,
  waiter VARCHAR(200) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  region VARCHAR(100),
  profile VARCHAR(200),
  endpoint TEXT,
  client_settings TEXT NOT NULL,
  parameters TEXT NOT NULL,
  is_encrypted BOOLEAN NOT NULL,
  options TEXT NOT NULL,
  max_wait DOUBLE PRECISION NOT NULL,
  include_response BOOLEAN NOT NULL,
  exclusive_key VARCHAR(200),
  machine TEXT NOT NULL,
  machine_at DOUBLE PRECISION NOT NULL,
  attempts INTEGER NOT NULL,
  elapsed DOUBLE PRECISION NOT NULL,
  state_seen TEXT,
  next_attempt DOUBLE PRECISION,
  lease BIGINT,
  worker VARCHAR(200),
  clock_jump DOUBLE PRECISION,
  response TEXT,
  error TEXT,
  PRIMARY KEY (id)
);
CREATE TABLE boto_waiters_schema (
  version INTEGER NOT NULL
);
CREATE INDEX boto_waiters_by_age ON boto_waiters_operations (created, id);
CREATE INDEX boto_waiters_by_lease ON boto_waiters_operations (state, lease, created);
CREATE UNIQUE INDEX boto_waiters_exclusive ON boto_waiters_operations (exclusive_key) WHERE state = 'open';
CREATE TABLE boto_waiters_calls (
  id VARCHAR(32) NOT NULL,
  created DOUBLE PRECISION NOT NULL,
  ended DOUBLE PRECISION,
  record TEXT NOT NULL,
  result TEXT,
  PRIMARY KEY (id)
);
INSERT INTO boto_waiters_definitions VALUES('a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', '{"name":"StreamExists","operation":"DescribeStream","service":"kinesis","waiter":{"acceptors":[{"matcher":{"output":{"comparator":"stringEquals","expected":"ACTIVE","path":"StreamDescription.StreamStatus"}},"state":"success"}],"maxDelay":10,"minDelay":3,"tags":["generated"]}}');
INSERT INTO boto_waiters_operations VALUES('99f2eb4c3b9242259913d4fd4fcb4286', 1795372021.174, 2795372021.174, 1795372021.239, 'succeeded', 'kinesis StreamName=done', 'kinesis', 'StreamExists', 'a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', 'us-east-1', NULL, 'https://kinesis.us-east-1.amazonaws.com', '{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10,"inject_host_prefix":true,"signature_version":"v4"}', '{"StreamName":"done"}', false, '{"min_delay":0.01,"max_delay":0.02}', 1000000000.0, false, NULL, '{"version":1,"definition":"","phase":"ended","attempts":1,"elapsed":0.010508895139537344,"slept":0,"pause":0,"last":false,"brought_forward":false,"next_early":0,"successes":1,"slowest":0.0026431379992573056,"throttles":0,"first_attempt":0.007865757140280039}', 1795372021.239, 1, 0.011, 'ACTIVE', NULL, NULL, 'vm:32119', NULL, '{"kind":"response","waiter":"StreamExists","label":"kinesis StreamName=done","attempts":1,"elapsed":0.011,"acceptor":{"index":0,"text":"success when StreamDescription.StreamStatus is ''ACTIVE''"},"observed":"ACTIVE"}', NULL);
INSERT INTO boto_waiters_operations VALUES('837a8444eb41422691df6f5e266c03f6', 1795372021.246, 2795372021.246, 1795372021.304, 'attempts_used_up', 'kinesis StreamName=used', 'kinesis', 'StreamExists', 'a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', 'us-east-1', NULL, 'https://kinesis.us-east-1.amazonaws.com', '{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10,"inject_host_prefix":true,"signature_version":"v4"}', '{"StreamName":"used"}', false, '{"min_delay":0.01,"max_delay":0.02,"max_attempts":2}', 1000000000.0, false, NULL, '{"version":1,"definition":"","phase":"ended","attempts":2,"elapsed":0.016139628974087827,"slept":0.01,"pause":0,"last":false,"brought_forward":false,"next_early":0,"successes":0,"slowest":0.0021938620002401876,"throttles":0,"first_attempt":0.002764901973932865}', 1795372021.304, 2, 0.016, 'CREATING', NULL, NULL, 'vm:32119', NULL, NULL, '{"type":"urn:boto-waiters-plus:error:attempts_used_up","code":"attempts_used_up","status":504,"title":"The attempts of the wait are used up","detail":"used up its 2 attempts for kinesis StreamName=used: last state seen: CREATING (2 attempts of DescribeStream in 0.0 s).","waiter":"StreamExists","label":"kinesis StreamName=used","failed_ids":[],"attempts":2,"elapsed":0.016,"max_wait":1000000000.0,"acceptor":null,"observed":"CREATING","service_message":null}');
INSERT INTO boto_waiters_operations VALUES('ce3b38951af94e82a3737d470f2bc4e7', 1795372021.309, 2795372021.309, NULL, 'open', 'kinesis StreamName=polled', 'kinesis', 'StreamExists', 'a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', 'us-east-1', NULL, 'https://kinesis.us-east-1.amazonaws.com', '{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10,"inject_host_prefix":true,"signature_version":"v4"}', '{"StreamName":"polled"}', false, '{"min_delay":0.01,"max_delay":0.02,"success_count":2}', 1000000000.0, false, NULL, '{"version":1,"definition":"","phase":"pausing","attempts":31,"elapsed":0.49944227345713443,"slept":0.4646669083053912,"pause":0.015408048959538019,"last":false,"brought_forward":false,"next_early":0,"successes":0,"slowest":0.00313508700037346,"throttles":0,"first_attempt":0.0026484454565434135}', 1795372021.811, 31, 0.499, 'CREATING', 1795372021.826, NULL, NULL, NULL, NULL, NULL);
INSERT INTO boto_waiters_operations VALUES('7e8447be899a40d6a265761ec88b0542', 1795372021.815, 2795372021.815, NULL, 'open', 'kinesis StreamName=orders', 'kinesis', 'StreamExists', 'a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', 'us-east-1', NULL, 'https://kinesis.us-east-1.amazonaws.com', '{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10,"inject_host_prefix":true,"signature_version":"v4"}', '{"StreamName":"orders"}', false, '{"min_delay":0.01,"max_delay":0.02}', 1000000000.0, false, 'deploy', '{"version":1,"definition":"","phase":"new","attempts":0,"elapsed":0,"slept":0,"pause":0,"last":false,"brought_forward":false,"next_early":0,"successes":0,"slowest":0,"throttles":0,"first_attempt":0}', 1795372021.815, 0, 0.0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO boto_waiters_operations VALUES('0e94f30eea75496f94863b73b55d2cdb', 1795372021.817, 2795372021.817, NULL, 'open', 'kinesis StreamName=odd', 'kinesis', 'StreamExists', 'a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9', 'us-east-1', NULL, 'https://kinesis.us-east-1.amazonaws.com', '{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10,"inject_host_prefix":true,"signature_version":"v4"}', '{"StreamName":"odd"}', false, '[1]', 1000000000.0, false, NULL, '{"version":1,"definition":"","phase":"new","attempts":0,"elapsed":0,"slept":0,"pause":0,"last":false,"brought_forward":false,"next_early":0,"successes":0,"slowest":0,"throttles":0,"first_attempt":0}', 1795372021.817, 0, 0.0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO boto_waiters_calls VALUES('af1895eacd50459ebfc5ab29508f4410', 1795372021.818, NULL, '{"operation": "RunInstances", "service": "ec2"}', NULL);
INSERT INTO boto_waiters_calls VALUES('f073b3736419478ca53f337f8fed8a16', 1795372021.82, 1795372021.82, '{"operation": "x"}', '{"succeeded": true}');
INSERT INTO boto_waiters_schema VALUES(2);
