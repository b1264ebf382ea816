ALTER TABLE "go_live" ADD COLUMN "retention_chosen_at" bigint;
