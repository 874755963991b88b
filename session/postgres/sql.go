package postgres

import "strings"

// statements are the SQL of a backend, with the name of its schema. None of them leaves any state in the connection.
type statements struct {
	keys, markDeleted, deleteLogs, deleteChunks string

	takeTurn, makeSession, asked           string
	holder, isHeld                         string
	renew, leave, release, forget, current string
	commitDurable, flush                   string

	newest, size, read, putBack        string
	one, many                          appends // for one chunk, and for several
	stands                             string
	list                               string
	storeID, changes, everything, news string

	parts, hold, rows, deleteRows, insertRow             string
	archived, headArchived, deleteLog, renumber, setHead string
}

// appends are the statements of an append.
type appends struct {
	durable, soon string
	begin         string // for a new log
}

func newStatements(schema string, notify bool) statements {
	in := func(sql string) string { return inSchema(sql, schema) }
	tell := ""
	if notify {
		tell = ", pg_notify('" + channel + "', '')"
	}
	write := func(chunks string) appends {
		fill := func(begun, commit string) string {
			r := strings.NewReplacer("{begun}", begun, "{commit}", commit, "{tell}", tell, "{chunks}", chunks)
			return in(r.Replace(appendSQL))
		}
		return appends{durable: fill("", commitDurable), soon: fill("", commitSoon),
			begin: fill(begunSQL, commitDurable)}
	}
	return statements{
		keys:         in(`SELECT key FROM {schema}.sessions WHERE deleted IS NULL AND log > 0`),
		markDeleted:  in(markDeletedSQL),
		deleteLogs:   in(`DELETE FROM {schema}.logs WHERE session = $1`),
		deleteChunks: in(`DELETE FROM {schema}.chunks WHERE session = $1`),

		takeTurn:    in(takeTurnSQL),
		makeSession: in(makeSessionSQL),
		asked:       in(askedSQL),
		holder:      in(holderSQL),
		isHeld:      in(isHeldSQL),
		renew:       in(renewSQL),
		leave:       in(leaveSQL),
		release:     in(releaseSQL),
		forget:      in(`DELETE FROM {schema}.sessions WHERE id = $1 AND fence = $2 AND log = 0 AND deleted IS NULL`),
		current:     in(`SELECT ` + headColumns + ` FROM {schema}.sessions WHERE id = $1 AND deleted IS NULL`),

		commitDurable: `SELECT ` + commitDurable,
		flush:         in(flushSQL),

		newest:  in(`SELECT ` + headColumns + ` FROM {schema}.sessions WHERE key = $1 AND deleted IS NULL`),
		size:    in(sizeSQL),
		read:    in(readSQL),
		putBack: in(putBackSQL),

		one:    write(`(VALUES ($9::bigint, $10::bytea))`),
		many:   write(`unnest($9::bigint[], $10::bytea[])`),
		stands: in(standsSQL),

		list: in(`SELECT ` + statusColumns + ` FROM {schema}.sessions WHERE deleted IS NULL AND log > 0`),

		storeID:    in(`SELECT id::text FROM {schema}.store`),
		changes:    in(changesSQL),
		everything: in(everythingSQL),
		news:       in(newsSQL),

		parts: in(partsSQL),
		hold: in(`SELECT ` + headColumns +
			` FROM {schema}.sessions WHERE id = $1 AND deleted IS NULL FOR UPDATE`),
		rows:         in(rowsSQL),
		deleteRows:   in(deleteRowsSQL),
		insertRow:    in(insertRowSQL),
		archived:     in(`UPDATE {schema}.logs SET compressed = $3 WHERE session = $1 AND log = $2`),
		headArchived: in(`UPDATE {schema}.sessions SET compressed = true WHERE id = $1`),
		deleteLog:    in(`DELETE FROM {schema}.logs WHERE session = $1 AND log = $2`),
		renumber:     in(renumberSQL),
		setHead:      in(setHeadSQL),
	}
}

// headColumns are the columns of type head.
const headColumns = `id, fence, log, made, compressed, size, status`

// statusColumns are the columns of a session in a list.
const statusColumns = `status, coalesce(lease_until > clock_timestamp(), false), updated, key`

const markDeletedSQL = `
UPDATE {schema}.sessions
SET deleted = clock_timestamp(), deleted_tx = pg_current_xact_id(), size = 0, status = NULL, lease_until = NULL,
	turn = NULL, holder_pid = NULL, holder_host = NULL
WHERE key = $1 AND deleted IS NULL
RETURNING id`

// A turn that the same asker has is taken again, because its first answer may have been lost.
//
// $1 key, $2 lease in microseconds, $3 turn, $4 pid, $5 host, $6 type of the key.
const takeTurnSQL = `
UPDATE {schema}.sessions
SET fence = fence + 1, lease_until = clock_timestamp() + $2::bigint * interval '1 microsecond', turn = $3,
	holder_pid = $4, holder_host = $5, since = clock_timestamp(), type = $6
WHERE key = $1 AND deleted IS NULL AND (lease_until IS NULL OR lease_until <= clock_timestamp() OR turn = $3)
RETURNING ` + headColumns

const makeSessionSQL = `
INSERT INTO {schema}.sessions (key, fence, lease_until, turn, holder_pid, holder_host, since, type)
VALUES ($1, 1, clock_timestamp() + $2::bigint * interval '1 microsecond', $3, $4, $5, clock_timestamp(), $6)
ON CONFLICT (key) WHERE deleted IS NULL DO NOTHING
RETURNING ` + headColumns

// Returns whether an asker has the turn. It waits for a statement that is about to grant it.
//
// $1 key, $2 turn.
const askedSQL = `
SELECT ` + headColumns + `, coalesce(turn = $2, false) FROM {schema}.sessions
WHERE key = $1 AND deleted IS NULL
FOR NO KEY UPDATE`

const holderSQL = `
SELECT coalesce(holder_pid, 0), coalesce(holder_host, ''), coalesce(since, 'epoch')
FROM {schema}.sessions WHERE key = $1 AND deleted IS NULL`

const isHeldSQL = `
SELECT coalesce(lease_until > clock_timestamp(), false)
FROM {schema}.sessions WHERE key = $1 AND deleted IS NULL`

// A session that a long transaction has locked must not block the renewal of all other leases. The transactions that
// lock it renew its lease: an append, and a change of its parts.
//
// $1 ids, $2 fences, $3 lease in microseconds.
const renewSQL = `
WITH free AS (
	SELECT s.id FROM {schema}.sessions AS s
	JOIN unnest($1::bigint[], $2::bigint[]) AS held (id, fence) ON s.id = held.id AND s.fence = held.fence
	WHERE s.deleted IS NULL
	FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE {schema}.sessions AS s
SET lease_until = clock_timestamp() + $3::bigint * interval '1 microsecond'
FROM free WHERE s.id = free.id`

// Sessions whose process died return to those that nobody writes to.
const leaveSQL = `
UPDATE {schema}.sessions SET listed = updated
WHERE listed IS NULL AND deleted IS NULL AND log > 0 AND (lease_until IS NULL OR lease_until <= clock_timestamp())`

// The fence is raised, so that a late append or renewal of the turn no longer matches: it would begin a lease that
// nobody holds.
const releaseSQL = `
UPDATE {schema}.sessions
SET fence = fence + 1, lease_until = NULL, turn = NULL, holder_pid = NULL, holder_host = NULL, since = NULL,
	listed = updated
WHERE id = $1 AND fence = $2`

// chunkEnd is the offset at which a chunk ends in its log.
const chunkEnd = `at + coalesce(raw, octet_length(data))`

// The size of a log that is no longer the newest is the end of its last chunk.
const sizeSQL = `
SELECT CASE WHEN s.log = $2 THEN s.size ELSE coalesce((
	SELECT ` + chunkEnd + ` FROM {schema}.chunks WHERE session = $1 AND log = $2 ORDER BY at DESC LIMIT 1), 0) END
FROM {schema}.sessions AS s WHERE s.id = $1 AND s.deleted IS NULL`

// The bytes between the offsets $3 and $4 begin in the last chunk that does not begin after $3.
const readSQL = `
SELECT at, raw, data FROM {schema}.chunks
WHERE session = $1 AND log = $2 AND at < $4 AND at >= coalesce((
	SELECT max(at) FROM {schema}.chunks WHERE session = $1 AND log = $2 AND at <= $3), 0)
ORDER BY at`

// An archive becomes a log again. Its rows stay compressed.
const putBackSQL = `
WITH head AS (
	UPDATE {schema}.sessions SET compressed = false WHERE id = $1 AND compressed AND deleted IS NULL RETURNING id, log
)
UPDATE {schema}.logs SET compressed = NULL FROM head WHERE logs.session = head.id AND logs.log = head.log`

// An append is one statement. It compares the head of the session, moves it, and inserts the chunks.
//
// $1 session, $2 log, $3 end, or -1 for any, $4 fence, or 0 for none, $5 log afterwards, $6 size afterwards, $7 number
// of the append, $8 lease in microseconds, $9 offset and $10 text of the chunk, or of all chunks, $11 status, $12
// updated, $13 whether it is pinned and $14 archived.
const appendSQL = `
WITH head AS (
	UPDATE {schema}.sessions
	SET log = $5, made = greatest(made, $5), compressed = false, size = $6, status = $11, updated = $12,
		listed = CASE WHEN $4::bigint = 0 AND (lease_until IS NULL OR lease_until <= clock_timestamp())
			THEN $12::bigint END,
		is_pinned = $13, is_archived = $14,
		lease_until = CASE WHEN $4::bigint = 0 THEN lease_until
			ELSE clock_timestamp() + $8::bigint * interval '1 microsecond' END
	WHERE id = $1 AND log = $2 AND (size = $3 OR $3 = -1) AND (fence = $4 OR $4 = 0) AND deleted IS NULL
		AND (NOT compressed OR $3 = -1)
	RETURNING id, {commit}{tell}
){begun}
INSERT INTO {schema}.chunks (session, log, at, append, tx, data)
SELECT head.id, $5, chunk.at, $7, pg_current_xact_id(), chunk.data
FROM head, {chunks} AS chunk (at, data)`

const begunSQL = `, begun AS (
	INSERT INTO {schema}.logs (session, log, ordinal)
	SELECT id, $5, 1 + coalesce((SELECT max(ordinal) FROM {schema}.logs WHERE session = $1), 0) FROM head
)`

// An append that has to survive a power loss is flushed before the answer, whatever the host has set; others need not
// be. Both settings end with the transaction.
const (
	commitDurable = `CASE current_setting('synchronous_commit')
		WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`
	commitSoon = `set_config('synchronous_commit', 'off', true)`
)

// A durable commit flushes all earlier ones. It has to write something.
//
// $1 session, $2 fence, $3 lease in microseconds.
const flushSQL = `
UPDATE {schema}.sessions SET lease_until = clock_timestamp() + $3::bigint * interval '1 microsecond'
WHERE id = $1 AND fence = $2 AND deleted IS NULL
RETURNING ` + commitDurable

// $1 session, $2 log and $3 offset where the append has its first chunk, $4 its number.
const standsSQL = `
SELECT ` + headColumns + `, deleted IS NOT NULL, EXISTS (
	SELECT FROM {schema}.chunks WHERE session = $1 AND log = $2 AND at = $3 AND append = $4)
FROM {schema}.sessions WHERE id = $1`

// channel is where a backend with Options.Notify announces changes.
const channel = "winnow_sessions"

// horizon is the first transaction that may be under way: all earlier ones have ended, and their changes are visible.
const horizon = `pg_snapshot_xmin(pg_current_snapshot())`

// $1 the horizon of the previous call. The oldest change comes first.
const changesSQL = `
SELECT convert_to('', 'UTF8'), 0, 0::bigint, 0::bigint, false, ` + horizon + `::text, NULL::xid8 AS first
UNION ALL
SELECT s.key, c.log, min(c.at), max(c.at + coalesce(c.raw, octet_length(c.data))), false, '', min(c.tx)
FROM {schema}.chunks AS c
JOIN {schema}.sessions AS s ON s.id = c.session AND s.log = c.log AND s.deleted IS NULL
WHERE c.tx >= $1::text::xid8 AND c.tx < ` + horizon + `
GROUP BY s.id, s.key, c.log
UNION ALL
SELECT key, 0, 0, 0, true, '', deleted_tx FROM {schema}.sessions
WHERE deleted_tx >= $1::text::xid8 AND deleted_tx < ` + horizon + ` AND log > 0
ORDER BY first NULLS FIRST`

const everythingSQL = `
SELECT convert_to('', 'UTF8'), 0, 0::bigint, 0::bigint, false, ` + horizon + `::text
UNION ALL
SELECT key, log, 0, size, false, '' FROM {schema}.sessions WHERE deleted IS NULL AND log > 0`

const newsSQL = `
SELECT EXISTS (SELECT FROM {schema}.chunks WHERE tx >= $1::text::xid8 AND tx < ` + horizon + `)
	OR EXISTS (SELECT FROM {schema}.sessions WHERE deleted_tx >= $1::text::xid8 AND deleted_tx < ` + horizon + `)`

const partsSQL = `
SELECT l.log, l.began, l.compressed, l.log = s.log,
	CASE WHEN l.log = s.log THEN s.size ELSE coalesce((
		SELECT ` + chunkEnd + ` FROM {schema}.chunks AS c WHERE c.session = l.session AND c.log = l.log
		ORDER BY at DESC LIMIT 1), 0) END,
	CASE WHEN l.compressed IS NULL THEN 0 ELSE (
		SELECT sum(octet_length(data)) FROM {schema}.chunks AS c WHERE c.session = l.session AND c.log = l.log) END
FROM {schema}.logs AS l JOIN {schema}.sessions AS s ON s.id = l.session
WHERE s.key = $1 AND s.deleted IS NULL
ORDER BY l.ordinal`

const deleteRowsSQL = `
WITH gone AS (
	DELETE FROM {schema}.chunks WHERE session = $1 AND log = $2 AND at >= $3 AND at < $4 RETURNING tx
)
SELECT max(tx)::text FROM gone`

const rowsSQL = `
SELECT at, ` + chunkEnd + `, raw IS NOT NULL FROM {schema}.chunks WHERE session = $1 AND log = $2 ORDER BY at`

// $6 is the transaction of the row; the empty text means this one.
const insertRowSQL = `
INSERT INTO {schema}.chunks (session, log, at, append, tx, raw, data)
VALUES ($1, $2, $3, 0, CASE $6::text WHEN '' THEN pg_current_xact_id() ELSE $6::text::xid8 END, $4, $5)`

// $1 session, $2 the number of a log, $3 its number afterwards.
const renumberSQL = `
WITH head AS (UPDATE {schema}.sessions SET made = $3 WHERE id = $1)
UPDATE {schema}.logs SET log = $3 WHERE session = $1 AND log = $2`

// $1 session, $2 log, $3 its size, $4 whether it is an archive, $5 status, $6 updated, $7 whether it is pinned and $8
// archived.
const setHeadSQL = `
UPDATE {schema}.sessions
SET log = $2, size = $3, compressed = $4, status = $5, updated = $6, is_pinned = $7, is_archived = $8
WHERE id = $1`
