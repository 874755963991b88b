-- One row for each session, and after its deletion one that says so. An append compares and changes this row; no index
-- holds what it changes, so that the new version of the row stays on its page.
CREATE TABLE {schema}.sessions (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key         bytea NOT NULL,              -- keys may have any character, NUL too, which text cannot hold
	log         integer NOT NULL DEFAULT 0,  -- number of the newest log; 0: none was made yet
	size        bigint NOT NULL DEFAULT 0,   -- of the newest log, in bytes: its head
	fence       bigint NOT NULL DEFAULT 0,   -- how often the turn was taken; an append of an earlier turn is refused
	lease_until timestamptz,                 -- NULL: nobody has the turn
	turn        bytea,                       -- random: who took the turn, for one who has to ask again
	holder_pid  integer,
	holder_host text,
	since       timestamptz,
	deleted     timestamptz
) WITH (fillfactor = 60);

CREATE UNIQUE INDEX sessions_key ON {schema}.sessions (key) WHERE deleted IS NULL;

-- The bytes of the logs. A row is one append, or a part of a long one.
CREATE TABLE {schema}.chunks (
	session bigint NOT NULL,
	log     integer NOT NULL,
	at      bigint NOT NULL,  -- offset in the log
	append  bigint NOT NULL,  -- random: which append it is, for one who has to find out whether it was committed
	data    bytea NOT NULL,
	PRIMARY KEY (session, log, at)
);
