package postgres

import "strings"

// statements are those of a backend, with the name of its schema. None of them leaves anything in the connection.
type statements struct {
	keys, markDeleted, deleteChunks      string
	takeTurn, makeSession, holder        string
	renew, release, forget, check        string
	newest, size, read                   string
	appendDurable, appendSoon, standsNow string
}

func newStatements(schema string) statements {
	in := func(sql string) string { return inSchema(sql, schema) }
	return statements{
		keys:         in(`SELECT key FROM {schema}.sessions WHERE deleted IS NULL AND log > 0`),
		markDeleted:  in(markDeletedSQL),
		deleteChunks: in(`DELETE FROM {schema}.chunks WHERE session = $1`),

		takeTurn:    in(takeTurnSQL),
		makeSession: in(makeSessionSQL),
		holder:      in(holderSQL),
		renew:       in(renewSQL),
		release:     in(releaseSQL),
		forget:      in(`DELETE FROM {schema}.sessions WHERE id = $1 AND fence = $2 AND log = 0 AND deleted IS NULL`),
		check:       in(`SELECT deleted IS NOT NULL FROM {schema}.sessions WHERE id = $1`),

		newest: in(`SELECT id, log, size FROM {schema}.sessions WHERE key = $1 AND deleted IS NULL`),
		size:   in(sizeSQL),
		read:   in(readSQL),

		appendDurable: in(strings.ReplaceAll(appendSQL, "{commit}", commitDurable)),
		appendSoon:    in(strings.ReplaceAll(appendSQL, "{commit}", commitSoon)),
		standsNow:     in(standsNowSQL),
	}
}

const markDeletedSQL = `
UPDATE {schema}.sessions
SET deleted = clock_timestamp(), size = 0, lease_until = NULL, turn = NULL, holder_pid = NULL, holder_host = NULL
WHERE key = $1 AND deleted IS NULL
RETURNING id`

// A turn that the same asker took is taken again: the answer to the first time may be lost.
//
// $1 key, $2 lease in microseconds, $3 turn, $4 pid, $5 host.
const takeTurnSQL = `
UPDATE {schema}.sessions
SET fence = fence + 1, lease_until = clock_timestamp() + $2::bigint * interval '1 microsecond', turn = $3,
	holder_pid = $4, holder_host = $5, since = clock_timestamp()
WHERE key = $1 AND deleted IS NULL AND (lease_until IS NULL OR lease_until <= clock_timestamp() OR turn = $3)
RETURNING id, fence, log, size`

const makeSessionSQL = `
INSERT INTO {schema}.sessions (key, fence, lease_until, turn, holder_pid, holder_host, since)
VALUES ($1, 1, clock_timestamp() + $2::bigint * interval '1 microsecond', $3, $4, $5, clock_timestamp())
ON CONFLICT (key) WHERE deleted IS NULL DO NOTHING
RETURNING id, fence, log, size`

const holderSQL = `
SELECT coalesce(holder_pid, 0), coalesce(holder_host, ''), coalesce(since, 'epoch')
FROM {schema}.sessions WHERE key = $1 AND deleted IS NULL`

// $1 ids, $2 fences, $3 lease in microseconds.
const renewSQL = `
UPDATE {schema}.sessions AS s
SET lease_until = clock_timestamp() + $3::bigint * interval '1 microsecond'
FROM unnest($1::bigint[], $2::bigint[]) AS held (id, fence)
WHERE s.id = held.id AND s.fence = held.fence AND s.deleted IS NULL
RETURNING s.id`

const releaseSQL = `
UPDATE {schema}.sessions
SET lease_until = NULL, turn = NULL, holder_pid = NULL, holder_host = NULL, since = NULL
WHERE id = $1 AND fence = $2`

// The size of a log that is not the newest any more ends with its last chunk.
const sizeSQL = `
SELECT CASE WHEN s.log = $2 THEN s.size ELSE coalesce((
	SELECT at + octet_length(data) FROM {schema}.chunks WHERE session = $1 AND log = $2 ORDER BY at DESC LIMIT 1), 0) END
FROM {schema}.sessions AS s WHERE s.id = $1 AND s.deleted IS NULL`

// What lies between the offsets $3 and $4 begins in the last chunk that does not begin behind $3.
const readSQL = `
SELECT at, data FROM {schema}.chunks
WHERE session = $1 AND log = $2 AND at < $4 AND at >= coalesce((
	SELECT max(at) FROM {schema}.chunks WHERE session = $1 AND log = $2 AND at <= $3), 0)
ORDER BY at`

// An append is one statement. It compares the head of the session and moves it, and puts the chunks in.
//
// $1 session, $2 log, $3 end, or -1 for any, $4 fence, or 0 for none, $5 log afterwards, $6 size afterwards, $7 number
// of the append, $8 lease in microseconds, $9 offsets and $10 texts of the chunks.
const appendSQL = `
WITH head AS (
	UPDATE {schema}.sessions
	SET log = $5, size = $6, lease_until = CASE WHEN $4 = 0 THEN lease_until
		ELSE clock_timestamp() + $8::bigint * interval '1 microsecond' END
	WHERE id = $1 AND log = $2 AND (size = $3 OR $3 = -1) AND (fence = $4 OR $4 = 0) AND deleted IS NULL
	RETURNING id, {commit}
)
INSERT INTO {schema}.chunks (session, log, at, append, data)
SELECT head.id, $5, chunk.at, $7, chunk.data
FROM head, unnest($9::bigint[], $10::bytea[]) AS chunk (at, data)`

// What is to survive a power loss is flushed before the answer, whatever the host has set; the rest need not be. Both
// settings end with the transaction.
const (
	commitDurable = `CASE current_setting('synchronous_commit')
		WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`
	commitSoon = `set_config('synchronous_commit', 'off', true)`
)

// $1 session, $2 log and $3 offset where the append has its first chunk, $4 its number.
const standsNowSQL = `
SELECT log, size, fence, deleted IS NOT NULL, EXISTS (
	SELECT FROM {schema}.chunks WHERE session = $1 AND log = $2 AND at = $3 AND append = $4)
FROM {schema}.sessions WHERE id = $1`
