-- Raised by every change of settings: its row lock lets one node change them at a time, its number tells the others.
CREATE TABLE "settings_version" (
	"version" bigint NOT NULL
);
--> statement-breakpoint
INSERT INTO "settings_version" VALUES (1);
--> statement-breakpoint
-- The running nodes. A node that has not written its beat for some seconds is dead, and its leases are free.
-- Unlogged: after a crash of the server every node writes its row again.
CREATE UNLOGGED TABLE "nodes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" text NOT NULL,
	"started_at" timestamptz NOT NULL DEFAULT clock_timestamp(),
	"beat_at" timestamptz NOT NULL DEFAULT clock_timestamp()
);
--> statement-breakpoint
-- When a job that one node does for all was begun last, and until when that node has it.
CREATE TABLE "job_runs" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"node" text COLLATE "C",
	"begun_at" timestamptz NOT NULL,
	"leased_until" timestamptz NOT NULL
);
