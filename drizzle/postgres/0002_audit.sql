-- The audit chain. An act inserts an entry in its own transaction and takes no lock; whoever holds the chain's lock
-- links entries a moment later. What schema.ts calls a table is a view of both here. The generated file still makes
-- the table, so that it can be generated again; nothing is in it yet.
DROP TABLE "audit_records";
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" bigint PRIMARY KEY NOT NULL,
	"tx" xid8 NOT NULL DEFAULT pg_current_xact_id(),
	"at" bigint NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"commitment" text COLLATE "C" NOT NULL,
	"salt" bytea,
	"sealed" bytea,
	"session_id" text COLLATE "C",
	"wrapping_key" bigint
);
--> statement-breakpoint
CREATE INDEX "audit_entries_tx" ON "audit_entries" ("tx");
--> statement-breakpoint
-- Each number is the first of a block of 1,000 ids, for one connection.
CREATE SEQUENCE "audit_entry_blocks" INCREMENT BY 1000;
--> statement-breakpoint
CREATE TABLE "audit_links" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"entry_id" bigint UNIQUE NOT NULL,
	"previous" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE VIEW "audit_records" AS
	SELECT link.seq, entry.at, entry.tenant_id, entry.actor, entry.action, entry.subject, entry.commitment,
		link.previous, link.hash, entry.salt, entry.sealed,
		entry.session_id, entry.wrapping_key, link.entry_id
	FROM "audit_links" link JOIN "audit_entries" entry ON entry.id = link.entry_id;
--> statement-breakpoint
-- Every entry of a transaction before `low` is linked. One row, changed under the chain's lock.
CREATE TABLE "audit_low" (
	"low" xid8 NOT NULL
);
--> statement-breakpoint
INSERT INTO "audit_low" VALUES ('0');
--> statement-breakpoint
-- Committed entries without a link, as of the moment of the statement that asks. A dump that was restored into another
-- cluster may have transaction numbers that this one has not reached: their entries are linked already, unless `low` is
-- such a number too; then all entries are looked at once. The subselect is never made a join: few rows ask it.
CREATE FUNCTION "audit_unlinked_entries"() RETURNS SETOF "audit_entries" LANGUAGE plpgsql STABLE AS $$
DECLARE
	lowest xid8 := (SELECT low FROM audit_low);
	beyond xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
	IF lowest > beyond THEN
		lowest := '0';
		beyond := '18446744073709551615';
	END IF;
	RETURN QUERY SELECT entry.* FROM audit_entries entry WHERE entry.tx >= lowest AND entry.tx < beyond
		AND (SELECT link.seq FROM audit_links link WHERE link.entry_id = entry.id) IS NULL
		ORDER BY entry.tx, entry.id;
END
$$;
--> statement-breakpoint
CREATE VIEW "audit_unlinked" AS
	SELECT id, at, tenant_id, actor, action, subject, commitment FROM "audit_unlinked_entries"();
