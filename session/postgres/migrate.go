package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one step from an empty schema to that of this version of the package.
type Migration struct {
	Number int    // from 1
	Name   string // its file name, such as "0001_sessions.sql"
	SQL    string // statements, for the given schema
}

// Migrations returns all steps in order, for hosts that apply them with their own tool. The schema "" is "winnow". Such
// a host creates the schema, and in it a table of the applied steps:
//
//	CREATE TABLE migrations (number integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())
func Migrations(schema string) []Migration {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	migrations := make([]Migration, len(names))
	for i, name := range names { // sorted by Glob
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err) // the file is embedded
		}
		name = strings.TrimPrefix(name, "migrations/")
		number, err := strconv.Atoi(name[:4])
		if err != nil || number != i+1 {
			panic("postgres: the name of the migration " + name)
		}
		migrations[i] = Migration{Number: number, Name: name, SQL: inSchema(string(text), schema)}
	}
	return migrations
}

// inSchema inserts the name of the schema into a statement.
func inSchema(sql, schema string) string {
	return strings.ReplaceAll(sql, "{schema}", pgx.Identifier{orDefault(schema)}.Sanitize())
}

// longestName is how many bytes of a name PostgreSQL keeps, NAMEDATALEN - 1. It cuts longer names, so that two schemas
// might become one, and a schema is not found under its full name.
const longestName = 63

func checkSchema(schema string) error {
	if len(schema) > longestName {
		return fmt.Errorf("postgres: the name of schema %q has %d bytes, more than %d", schema, len(schema),
			longestName)
	}
	return nil
}

func orDefault(schema string) string {
	if schema == "" {
		return defaultSchema
	}
	return schema
}

// Migrate creates the schema ("" is "winnow") if necessary, and applies the missing steps, each in its own transaction.
// Concurrent calls wait for one another. Migrate needs a role that may create tables in the schema; the [Backend] does
// not.
func Migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	if err := checkSchema(schema); err != nil {
		return err
	}
	for _, m := range Migrations(schema) {
		err := pgx.BeginTxFunc(ctx, pool, readCommitted, func(tx pgx.Tx) error {
			return apply(ctx, tx, orDefault(schema), m)
		})
		if err != nil {
			return fmt.Errorf("postgres: migration %s: %w", m.Name, err)
		}
	}
	return nil
}

// apply applies one step, unless somebody else did. Its lock ends with the transaction, because connections may be
// shared.
func apply(ctx context.Context, tx pgx.Tx, schema string, m Migration) error {
	_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('winnow migrations ' || $1, 0))",
		pgx.QueryExecModeExec, schema)
	if err != nil {
		return err
	}
	var hasSchema, hasTable bool
	err = tx.QueryRow(ctx, `SELECT
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
		EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migrations')`,
		pgx.QueryExecModeExec, schema).Scan(&hasSchema, &hasTable)
	if err != nil {
		return err
	}
	var statements []string
	if !hasSchema {
		statements = append(statements, "CREATE SCHEMA {schema}")
	}
	if !hasTable {
		statements = append(statements, `CREATE TABLE {schema}.migrations (
			number integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())`)
	} else if applied, err := version(ctx, tx, schema); err != nil || applied >= m.Number {
		return err
	}
	statements = append(statements, fmt.Sprintf("INSERT INTO {schema}.migrations VALUES (%d)", m.Number))
	for i, sql := range statements {
		statements[i] = inSchema(sql, schema)
	}
	// The step already contains the name of the schema. It is not replaced again, because a name may contain
	// "{schema}".
	for _, sql := range append(statements, m.SQL) {
		if _, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version returns the number of the newest step that was applied to a schema, 0 if none was.
func version(ctx context.Context, q querier, schema string) (number int, err error) {
	sql := inSchema("SELECT coalesce(max(number), 0) FROM {schema}.migrations", schema)
	return number, q.QueryRow(ctx, sql, pgx.QueryExecModeExec).Scan(&number)
}

// checkVersion returns an error that says what to do if the schema does not fit this package.
func checkVersion(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	have, err := version(ctx, pool, schema)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == undefinedTable || refused.Code == undefinedSchema) {
		have, err = 0, nil
	}
	want := len(Migrations(schema))
	switch {
	case err != nil:
		return fmt.Errorf("postgres: reading the version of schema %q: %w", orDefault(schema), err)
	case have < want:
		return fmt.Errorf("%w: schema %q is at migration %d of %d: call Migrate, or apply Migrations",
			ErrVersion, orDefault(schema), have, want)
	case have > want:
		return fmt.Errorf("%w: schema %q is at migration %d, and this program knows %d: update the program",
			ErrVersion, orDefault(schema), have, want)
	}
	return nil
}
