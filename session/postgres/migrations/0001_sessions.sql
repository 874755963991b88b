-- Which store this is, for the cursors of its feed.
CREATE TABLE {schema}.store (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid()
);

INSERT INTO {schema}.store DEFAULT VALUES;

-- One row for each session, and after its deletion one that says so. An append compares and changes this row. No index
-- holds what each append changes, so that the new version of the row stays on its page.
CREATE TABLE {schema}.sessions (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key         bytea NOT NULL,              -- keys may have any character, NUL too, which text cannot hold
	type        text NOT NULL,               -- of the key: direct, group, thread
	log         integer NOT NULL DEFAULT 0,  -- number of the newest log; 0: none was made yet
	made        integer NOT NULL DEFAULT 0,  -- the highest number that a log had
	compressed  boolean NOT NULL DEFAULT false, -- the newest log is an archive
	size        bigint NOT NULL DEFAULT 0,   -- of the newest log, in bytes: its head
	fence       bigint NOT NULL DEFAULT 0,   -- raised when the turn is taken or released; an append of an earlier turn is refused
	lease_until timestamptz,                 -- NULL: nobody has the turn
	turn        bytea,                       -- random: who took the turn, for one who has to ask again
	holder_pid  integer,
	holder_host text,
	since       timestamptz,
	status      bytea,                       -- what the newest log adds up to, as JSON
	updated     bigint NOT NULL DEFAULT 0,   -- time of the newest entry, in ns since 1970
	listed      bigint,                      -- updated, once the session is left; NULL: somebody writes to it
	is_pinned   boolean NOT NULL DEFAULT false,
	is_archived boolean NOT NULL DEFAULT false,
	deleted     timestamptz,
	deleted_tx  xid8
) WITH (fillfactor = 60);

CREATE UNIQUE INDEX sessions_key ON {schema}.sessions (key) WHERE deleted IS NULL;
CREATE INDEX sessions_newest ON {schema}.sessions (listed DESC, key) WHERE deleted IS NULL AND log > 0;
CREATE INDEX sessions_type ON {schema}.sessions (type, key) WHERE deleted IS NULL AND log > 0;
CREATE INDEX sessions_pinned ON {schema}.sessions (key) WHERE is_pinned AND deleted IS NULL AND log > 0;
CREATE INDEX sessions_archived ON {schema}.sessions (key) WHERE is_archived AND deleted IS NULL AND log > 0;
CREATE INDEX sessions_deleted ON {schema}.sessions (deleted_tx) WHERE deleted_tx IS NOT NULL;

CREATE TABLE {schema}.logs (
	session    bigint NOT NULL,
	log        integer NOT NULL,  -- another one once the log was written anew
	ordinal    integer NOT NULL,  -- the oldest first
	began      timestamptz NOT NULL DEFAULT clock_timestamp(),
	compressed timestamptz,       -- when it was archived; NULL: it is as it was written
	PRIMARY KEY (session, log)
);

-- The bytes of the logs. A row is one append, or a part of a long one, or several of them compressed.
CREATE TABLE {schema}.chunks (
	session bigint NOT NULL,
	log     integer NOT NULL,
	at      bigint NOT NULL,  -- offset in the log
	append  bigint NOT NULL,  -- random: which append it is, for one who has to find out whether it was committed
	tx      xid8,             -- who wrote it, for the feed; NULL: the feed does not tell of it
	raw     integer,          -- length of what data holds compressed, as gzip; NULL: data is as it was written
	data    bytea NOT NULL,
	PRIMARY KEY (session, log, at)
);

CREATE INDEX chunks_tx ON {schema}.chunks (tx) WHERE tx IS NOT NULL;
