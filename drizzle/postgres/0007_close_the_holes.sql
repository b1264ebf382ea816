ALTER TABLE "templates" ADD COLUMN "live_since" bigint;--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "sealed_query" "bytea";