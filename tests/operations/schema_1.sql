-- A store of schema version 1 as its package made it, with one open wait.
CREATE TABLE boto_waiters_definitions (
  digest VARCHAR(64) NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (digest)
);
INSERT INTO boto_waiters_definitions VALUES('a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9','{"name":"StreamExists","operation":"DescribeStream","service":"kinesis","waiter":{"acceptors":[{"matcher":{"output":{"comparator":"stringEquals","expected":"ACTIVE","path":"StreamDescription.StreamStatus"}},"state":"success"}],"maxDelay":10,"minDelay":3,"tags":["generated"]}}');
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
INSERT INTO boto_waiters_operations VALUES('a96e8a5b403e4c31abe8c130e0c089d4',1795326361.355,2795326361.355,NULL,'open','kinesis StreamExists','kinesis','StreamExists','a775a5b37504cc89211ef547409f0aec4038bcafddd9fb4453718bc7a797f3a9','us-east-1',NULL,'https://kinesis.us-east-1.amazonaws.com','{"connect_timeout":60,"read_timeout":60,"retries":{"mode":"standard"},"max_pool_connections":10}','{"StreamName":"orders"}',false,'{"min_delay":0.01,"max_delay":0.02}',1000000000.0,false,NULL,'{"version":1,"definition":"","phase":"new","attempts":0,"elapsed":0,"slept":0,"pause":0,"last":false,"brought_forward":false,"next_early":0,"successes":0,"slowest":0,"throttles":0,"first_attempt":0}',1795326361.355,0,0.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE boto_waiters_schema (
  version INTEGER NOT NULL
);
INSERT INTO boto_waiters_schema VALUES(1);
CREATE INDEX boto_waiters_by_age ON boto_waiters_operations (created, id);
CREATE INDEX boto_waiters_by_lease ON boto_waiters_operations (state, lease, created);
CREATE UNIQUE INDEX boto_waiters_exclusive ON boto_waiters_operations (exclusive_key) WHERE state = 'open';
