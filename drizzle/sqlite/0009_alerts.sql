CREATE TABLE `mail_addresses` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`hash` text,
	`expires_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `mail_addresses_user` ON `mail_addresses` (`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `mail_addresses_hash` ON `mail_addresses` (`hash`);--> statement-breakpoint
CREATE TABLE `alerts` (
	`cause` text PRIMARY KEY NOT NULL,
	`check_name` text NOT NULL,
	`finding` text NOT NULL,
	`raised_at` integer,
	`mail_day` text NOT NULL,
	`unsent` text NOT NULL,
	`due_at` integer,
	`attempts` integer NOT NULL
);

