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
	`term` blob NOT NULL,
	`created_at` integer NOT NULL,
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	PRIMARY KEY(`term`, `created_at`, `verification_id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `last_used_at` integer;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `role` text DEFAULT 'member' NOT NULL;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_salt` blob;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_sealed` blob;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_since` integer;--> statement-breakpoint
ALTER TABLE `dashboard_users` ADD `totp_step` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `terms` blob;--> statement-breakpoint
CREATE INDEX `verification_sessions_status` ON `verification_sessions` (`tenant_id`,`environment`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_template` ON `verification_sessions` (`tenant_id`,`environment`,`template`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_key` ON `verification_sessions` (`key_id`,`created_at`) WHERE key_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `trust_sources` ADD `failure_signer` text;--> statement-breakpoint
UPDATE `trust_anchors` SET `use` = 'relying_party' WHERE `use` = 'none' AND `source_id` IN (SELECT `id` FROM `trust_sources` WHERE `use` = 'relying_party');
--> statement-breakpoint
INSERT INTO outcome_days (tenant_id, environment, day, outcome, count) SELECT tenant_id, environment, strftime('%Y-%m-%d', created_at / 1000, 'unixepoch'), 'created', count(*) FROM verification_sessions GROUP BY 1, 2, 3;
--> statement-breakpoint
INSERT INTO outcome_days (tenant_id, environment, day, outcome, count) SELECT s.tenant_id, s.environment, strftime('%Y-%m-%d', coalesce(r.created_at, s.expires_at) / 1000, 'unixepoch'), CASE WHEN s.status <> 'failed' THEN s.status WHEN s.responded_at IS NULL THEN 'cancelled' WHEN r.created_at > s.responded_at THEN 'redirect_not_followed' ELSE 'failed' END, count(*) FROM verification_sessions AS s LEFT JOIN verification_results AS r ON r.verification_id = s.id AND r.tenant_id = s.tenant_id WHERE s.status <> 'pending' GROUP BY 1, 2, 3, 4;
--> statement-breakpoint
WITH steps(at_least_ms) AS (VALUES (0), (1000), (1200), (1500), (1800), (2200), (2700), (3300), (3900), (4700), (5600), (6800), (8200), (10000), (12000), (15000), (18000), (22000), (27000), (33000), (39000), (47000), (56000), (68000), (82000), (100000), (120000), (150000), (180000), (220000), (270000), (330000), (390000), (470000), (560000), (680000), (820000), (1000000), (1200000), (1500000), (1800000), (2200000), (2700000), (3300000), (3900000), (4700000), (5600000), (6800000), (8200000), (10000000), (12000000), (15000000), (18000000), (22000000), (27000000), (33000000), (39000000), (47000000), (56000000), (68000000), (82000000)) INSERT INTO answer_time_days (tenant_id, environment, day, at_least_ms, count) SELECT s.tenant_id, s.environment, strftime('%Y-%m-%d', coalesce(r.created_at, s.expires_at) / 1000, 'unixepoch'), (SELECT max(at_least_ms) FROM steps WHERE at_least_ms <= s.responded_at - s.created_at), count(*) FROM verification_sessions AS s LEFT JOIN verification_results AS r ON r.verification_id = s.id AND r.tenant_id = s.tenant_id WHERE s.status <> 'pending' AND s.responded_at IS NOT NULL GROUP BY 1, 2, 3, 4;
