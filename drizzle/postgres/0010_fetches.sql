ALTER TABLE "verification_sessions" ADD COLUMN "fetched_at" bigint;--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "sealed_fetches" "bytea";--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "expiry_seq" bigint;
