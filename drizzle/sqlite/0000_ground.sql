CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`label` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_tenant` ON `api_keys` (`tenant_id`);--> statement-breakpoint
CREATE TABLE `audit_checkpoints` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`hash` text NOT NULL,
	`signature` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `audit_records` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`tenant_id` text NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`commitment` text NOT NULL,
	`previous` text NOT NULL,
	`hash` text NOT NULL,
	`salt` blob,
	`sealed` blob
);
--> statement-breakpoint
CREATE TABLE `device_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`device_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`generation` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`family_expires_at` integer,
	`spent_at` integer,
	`used_at` integer,
	`revoked_at` integer,
	`replay_sealed` blob,
	FOREIGN KEY (`device_id`,`tenant_id`) REFERENCES `devices`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_tokens_device` ON `device_tokens` (`device_id`,`generation`,`kind`);--> statement-breakpoint
CREATE INDEX `device_tokens_expiry` ON `device_tokens` (`expires_at`);--> statement-breakpoint
CREATE INDEX `device_tokens_live_codes` ON `device_tokens` (`expires_at`) WHERE kind = 'pairing' AND spent_at IS NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE TABLE `devices` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`allowed_templates` text NOT NULL,
	`pairing_expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`enrolled_at` integer,
	`last_seen_at` integer,
	`revoked_at` integer,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `devices_tenant` ON `devices` (`tenant_id`,`environment`,`created_at`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`hash` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`salt` blob,
	`sealed` blob,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_expiry` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `installation` (
	`name` text PRIMARY KEY NOT NULL,
	`value` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `known_networks` (
	`network` text PRIMARY KEY NOT NULL,
	`seen_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pairing_guesses` (
	`network` text PRIMARY KEY NOT NULL,
	`failed_at` text NOT NULL,
	`locked_until` integer NOT NULL,
	`forget_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`role` text NOT NULL,
	`chain` text NOT NULL,
	`client_id` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	`not_after` integer NOT NULL,
	`retired_at` integer
);
--> statement-breakpoint
CREATE INDEX `signing_keys_current` ON `signing_keys` (`role`,`created_at`);--> statement-breakpoint
CREATE TABLE `template_versions` (
	`hash` text PRIMARY KEY NOT NULL,
	`query` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`tenant_id` text NOT NULL,
	`key` text NOT NULL,
	`title` text NOT NULL,
	`query` text NOT NULL,
	`profile` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `key`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`daily_quota` integer,
	`retention_days` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trust_anchors` (
	`id` text PRIMARY KEY NOT NULL,
	`environment` text NOT NULL,
	`label` text NOT NULL,
	`certificate` text NOT NULL,
	`mode` text NOT NULL,
	`trusted_for` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`tenant_id` text NOT NULL,
	`day` text NOT NULL,
	`verifications_created` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `day`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `verification_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`at` integer NOT NULL,
	`event` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `verification_events_session` ON `verification_events` (`verification_id`);--> statement-breakpoint
CREATE TABLE `verification_results` (
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	`audit_seq` integer NOT NULL,
	PRIMARY KEY(`verification_id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `verification_sessions` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`device_id` text,
	`status` text NOT NULL,
	`template` text,
	`template_version` text,
	`profile` text NOT NULL,
	`client_id` text NOT NULL,
	`signing_key_id` text NOT NULL,
	`nonce` text NOT NULL,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`responded_at` integer,
	`audit_seq` integer NOT NULL,
	`idempotency_hash` text,
	`salt` blob NOT NULL,
	`sealed` blob,
	`sealed_response_key` blob,
	`wallet_formats` text,
	`response_code_hash` text,
	`response_code_expires_at` integer,
	`redeemed_at` integer,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `verification_sessions_newest` ON `verification_sessions` (`tenant_id`,`environment`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_device` ON `verification_sessions` (`device_id`,`created_at`) WHERE device_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `verification_sessions_open` ON `verification_sessions` (`expires_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `webhook_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`delivery_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`at` integer NOT NULL,
	`outcome` text NOT NULL,
	`http_status` integer,
	`duration_ms` integer NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	FOREIGN KEY (`delivery_id`,`tenant_id`) REFERENCES `webhook_deliveries`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_attempts_delivery` ON `webhook_attempts` (`delivery_id`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`verification_id` text NOT NULL,
	`type` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`lease_until` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_session` ON `webhook_deliveries` (`verification_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `webhook_secrets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant_id` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	`valid_until` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_secrets_tenant` ON `webhook_secrets` (`tenant_id`);