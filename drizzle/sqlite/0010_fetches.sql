ALTER TABLE `verification_sessions` ADD `fetched_at` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `sealed_fetches` blob;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `expiry_seq` integer;
