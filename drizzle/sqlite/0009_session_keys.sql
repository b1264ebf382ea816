CREATE TABLE `session_keys` (
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`wrapping_key` integer NOT NULL,
	`wrapped` blob NOT NULL,
	PRIMARY KEY(`verification_id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `wrapping_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`fingerprint` blob NOT NULL,
	`created_at` integer NOT NULL,
	`active_at` integer,
	`unreadable_at` integer,
	`retired_at` integer
);
--> statement-breakpoint
ALTER TABLE `audit_records` ADD `session_id` text;--> statement-breakpoint
ALTER TABLE `audit_records` ADD `wrapping_key` integer;--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `wrapping_key` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `wrapping_key` integer;