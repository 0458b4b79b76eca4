-- The tables of schema version 3, as SQLAlchemy words them for no database in particular.
CREATE TABLE boto_waiters_calls (
  id VARCHAR(32) NOT NULL,
  created FLOAT NOT NULL,
  ended FLOAT,
  phase VARCHAR(20) NOT NULL,
  target TEXT,
  record TEXT NOT NULL,
  answer TEXT,
  result TEXT,
  PRIMARY KEY (id)
);
CREATE TABLE boto_waiters_clocks (
  "offset" FLOAT NOT NULL,
  boot VARCHAR(200) NOT NULL,
  PRIMARY KEY (boot)
);
CREATE TABLE boto_waiters_definitions (
  digest VARCHAR(64) NOT NULL,
  definition TEXT NOT NULL,
  PRIMARY KEY (digest)
);
CREATE TABLE boto_waiters_leases (
  id BIGINT NOT NULL,
  worker VARCHAR(200) NOT NULL,
  expires FLOAT NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE boto_waiters_schema (
  version INTEGER NOT NULL
);
CREATE TABLE boto_waiters_operations (
  id VARCHAR(32) NOT NULL,
  created FLOAT NOT NULL,
  deadline FLOAT NOT NULL,
  ended FLOAT,
  state VARCHAR(32) NOT NULL,
  label TEXT NOT NULL,
  service VARCHAR(100) NOT NULL,
  waiter VARCHAR(200) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  kind VARCHAR(32) NOT NULL,
  region VARCHAR(100),
  profile VARCHAR(200),
  endpoint TEXT,
  client_settings TEXT NOT NULL,
  parameters TEXT NOT NULL,
  policy TEXT NOT NULL,
  include_response BOOLEAN NOT NULL,
  exclusive_key VARCHAR(200),
  request VARCHAR(64),
  machine TEXT NOT NULL,
  machine_at FLOAT NOT NULL,
  attempts INTEGER NOT NULL,
  elapsed FLOAT NOT NULL,
  state_seen TEXT,
  next_attempt FLOAT,
  lease BIGINT,
  worker VARCHAR(200),
  last_error TEXT,
  response TEXT,
  error TEXT,
  PRIMARY KEY (id),
  FOREIGN KEY(digest) REFERENCES boto_waiters_definitions (digest)
);
