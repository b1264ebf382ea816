CREATE TABLE `dashboard_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `dashboard_links_user` ON `dashboard_links` (`user_id`);--> statement-breakpoint
CREATE TABLE `dashboard_networks` (
	`user_id` text NOT NULL,
	`network` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `network`),
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `dashboard_sessions` (
	`hash` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`user_id` text NOT NULL,
	`agent` text NOT NULL,
	`created_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`authenticated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dashboard_sessions_id` ON `dashboard_sessions` (`id`);--> statement-breakpoint
CREATE INDEX `dashboard_sessions_user` ON `dashboard_sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `dashboard_users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`member_of` text,
	`password` text,
	`created_at` integer NOT NULL,
	`last_login_at` integer,
	FOREIGN KEY (`member_of`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dashboard_users_name` ON `dashboard_users` (`name`);--> statement-breakpoint
CREATE TABLE `login_failures` (
	`account` text NOT NULL,
	`network` text NOT NULL,
	`failures` integer NOT NULL,
	`not_before` integer NOT NULL,
	`forget_at` integer NOT NULL,
	PRIMARY KEY(`account`, `network`)
);
--> statement-breakpoint
CREATE INDEX `login_failures_forget` ON `login_failures` (`forget_at`);--> statement-breakpoint
ALTER TABLE `verification_events` ADD `audit_seq` integer;