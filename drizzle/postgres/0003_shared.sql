-- Leases that are under way: every node looks for those of dead nodes.
CREATE INDEX "webhook_deliveries_leased" ON "webhook_deliveries" ("lease_until") WHERE lease_until IS NOT NULL;
--> statement-breakpoint
-- Budgets against guessing, which all nodes share. Unlogged: after a crash of the server they are full again.
CREATE UNLOGGED TABLE "rate_buckets" (
	-- Policy and HMAC of the key.
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	-- When the budget is full again, in 1024ths of a millisecond.
	"full_at" bigint NOT NULL,
	"taken" bigint NOT NULL,
	"forget_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "rate_buckets_forget" ON "rate_buckets" ("forget_at");
--> statement-breakpoint
-- Results with their portraits, for 15 minutes. Unlogged: they are in no log, replica or base backup.
CREATE UNLOGGED TABLE "portraits" (
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"kept_until" bigint NOT NULL,
	"salt" bytea NOT NULL,
	"sealed" bytea NOT NULL,
	PRIMARY KEY ("verification_id", "tenant_id"),
	FOREIGN KEY ("verification_id", "tenant_id") REFERENCES "verification_sessions" ("id", "tenant_id") ON DELETE CASCADE
);
--> statement-breakpoint
CREATE INDEX "portraits_until" ON "portraits" ("kept_until");
