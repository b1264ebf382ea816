ALTER TABLE "devices" ADD COLUMN "ways" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "sealed_in_person" "bytea";
