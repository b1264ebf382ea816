CREATE TABLE `answer_time_days` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`at_least_ms` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `day`, `at_least_ms`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `dashboard_passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`label` text NOT NULL,
	`public_key` blob NOT NULL,
	`signatures` integer NOT NULL,
	`transports` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `dashboard_passkeys_user` ON `dashboard_passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `login_challenges` (
	`hash` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`user_id` text,
	`challenge` text NOT NULL,
	`failures` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `login_challenges_user` ON `login_challenges` (`user_id`);--> statement-breakpoint
CREATE INDEX `login_challenges_expiry` ON `login_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `outcome_days` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`outcome` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `day`, `outcome`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `dashboard_users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `recovery_codes_user` ON `recovery_codes` (`user_id`);--> statement-breakpoint
CREATE TABLE `sign_ins` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` integer NOT NULL,
	`user_id` text,
	`outcome` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_ins_user` ON `sign_ins` (`user_id`,`at`);--> statement-breakpoint
CREATE INDEX `sign_ins_at` ON `sign_ins` (`at`);--> statement-breakpoint
CREATE TABLE `tenant_looks` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`accent` text,
	`privacy_url` text,
	`logo` blob,
	`logo_type` text,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `verification_terms` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`term` text NOT NULL,
	`created_at` integer NOT NULL,
	`verification_id` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `term`, `created_at`, `verification_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `verification_terms_session` ON `verification_terms` (`verification_id`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `last_used_at` integer;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `role` text DEFAULT 'member' NOT NULL;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_salt` blob;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_sealed` blob;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_since` integer;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_step` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `key_id` text;--> statement-breakpoint
CREATE INDEX `verification_sessions_status` ON `verification_sessions` (`tenant_id`,`environment`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_template` ON `verification_sessions` (`tenant_id`,`environment`,`template`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_key` ON `verification_sessions` (`key_id`,`created_at`) WHERE key_id IS NOT NULL;--> statement-breakpoint
UPDATE `trust_anchors` SET `use` = 'relying_party' WHERE `use` = 'none' AND `source_id` IN (SELECT `id` FROM `trust_sources` WHERE `use` = 'relying_party');