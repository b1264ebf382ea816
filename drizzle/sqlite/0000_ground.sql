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
	`role` text NOT NULL,
	`totp_salt` blob,
	`totp_sealed` blob,
	`totp_since` integer,
	`totp_step` integer,
	FOREIGN KEY (`member_of`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `dashboard_users_name` ON `dashboard_users` (`name`);--> statement-breakpoint
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
CREATE TABLE `template_versions` (
	`hash` text PRIMARY KEY NOT NULL,
	`query` text NOT NULL,
	`rules` text
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
	`rules` text,
	`purpose` text,
	`live_since` integer,
	PRIMARY KEY(`tenant_id`, `key`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `portraits` (
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`kept_until` integer NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	PRIMARY KEY(`verification_id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `portraits_until` ON `portraits` (`kept_until`);--> statement-breakpoint
CREATE TABLE `bundle_signers` (
	`fingerprint` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`last_made_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trust_anchors` (
	`id` text PRIMARY KEY NOT NULL,
	`environment` text NOT NULL,
	`label` text NOT NULL,
	`certificate` text NOT NULL,
	`mode` text NOT NULL,
	`trusted_for` text,
	`created_at` integer NOT NULL,
	`crl` text,
	`source_id` text,
	`use` text,
	`entity` text,
	`country` text,
	`since` integer,
	FOREIGN KEY (`source_id`) REFERENCES `trust_sources`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_blocks` (
	`environment` text NOT NULL,
	`fingerprint` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`environment`, `fingerprint`)
);
--> statement-breakpoint
CREATE TABLE `trust_lists` (
	`source_id` text PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL,
	FOREIGN KEY (`source_id`) REFERENCES `trust_sources`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_source_pins` (
	`source_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`certificate` text,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`source_id`, `fingerprint`),
	FOREIGN KEY (`source_id`) REFERENCES `trust_sources`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_sources` (
	`id` text PRIMARY KEY NOT NULL,
	`environment` text NOT NULL,
	`kind` text NOT NULL,
	`use` text NOT NULL,
	`label` text NOT NULL,
	`preset` text,
	`location` text,
	`types` text,
	`service_type` text,
	`mode` text,
	`every_ms` integer NOT NULL,
	`grace_ms` integer NOT NULL,
	`identity` text NOT NULL,
	`name` text NOT NULL,
	`sequence` integer,
	`issued_at` integer NOT NULL,
	`next_update` integer,
	`digest` text NOT NULL,
	`signer` text NOT NULL,
	`announced` text NOT NULL,
	`accepted_at` integer NOT NULL,
	`skipped` text NOT NULL,
	`difference` text,
	`checked_at` integer NOT NULL,
	`etag` text,
	`failure` text,
	`failure_detail` text,
	`failing_since` integer,
	`failures` integer NOT NULL,
	`due_at` integer NOT NULL,
	`warned_at` integer,
	`created_at` integer NOT NULL,
	`failure_signer` text
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
	`sealed` blob,
	`session_id` text,
	`wrapping_key` integer
);
--> statement-breakpoint
CREATE TABLE `go_live` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`documents` text NOT NULL,
	`first_test_at` integer,
	`first_live_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
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
CREATE TABLE `tenant_origins` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`origin` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `origin`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`daily_quota` integer,
	`retention_days` integer,
	`created_at` integer NOT NULL,
	`app_schemes` text
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`hash` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`salt` blob,
	`sealed` blob,
	`expires_at` integer NOT NULL,
	`wrapping_key` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_expiry` ON `idempotency_keys` (`expires_at`);--> statement-breakpoint
CREATE TABLE `verification_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`at` integer NOT NULL,
	`event` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`audit_seq` integer,
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `verification_events_session` ON `verification_events` (`verification_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `verification_events_shown` ON `verification_events` (`verification_id`) WHERE event = 'qr_shown';--> statement-breakpoint
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
	`response_code_hash` text,
	`response_code_expires_at` integer,
	`redeemed_at` integer,
	`release` text,
	`answered_from` text,
	`page_owner_hash` text,
	`wrapping_key` integer NOT NULL,
	`sealed_dc_requests` blob,
	`key_id` text,
	`terms` blob,
	`sealed_query` blob,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `verification_sessions_newest` ON `verification_sessions` (`tenant_id`,`environment`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_status` ON `verification_sessions` (`tenant_id`,`environment`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_template` ON `verification_sessions` (`tenant_id`,`environment`,`template`,`created_at`);--> statement-breakpoint
CREATE INDEX `verification_sessions_key` ON `verification_sessions` (`key_id`,`created_at`) WHERE key_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `verification_sessions_device` ON `verification_sessions` (`device_id`,`created_at`) WHERE device_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `verification_sessions_open` ON `verification_sessions` (`expires_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `verification_sessions_held` ON `verification_sessions` (`responded_at`) WHERE status = 'pending' AND responded_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `verification_terms` (
	`term` blob NOT NULL,
	`created_at` integer NOT NULL,
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	PRIMARY KEY(`term`, `created_at`, `verification_id`)
) WITHOUT ROWID;
--> statement-breakpoint
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
	`successor_id` text,
	`last_used_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_tenant` ON `api_keys` (`tenant_id`);--> statement-breakpoint
CREATE TABLE `installation` (
	`name` text PRIMARY KEY NOT NULL,
	`value` blob NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE `registration_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text,
	`jwt` text NOT NULL,
	`subject` text NOT NULL,
	`intended_use` text,
	`purposes` text NOT NULL,
	`credentials` text NOT NULL,
	`not_before` integer,
	`not_after` integer,
	`status` text,
	`templates` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
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
	`retired_at` integer,
	`tenant_id` text,
	`starts_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `signing_keys_current` ON `signing_keys` (`role`,`created_at`);--> statement-breakpoint
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
CREATE TABLE `usage_days` (
	`tenant_id` text NOT NULL,
	`day` text NOT NULL,
	`verifications_created` integer NOT NULL,
	`newest_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `day`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
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
	`receiver` text NOT NULL,
	`request_id` text,
	`environment` text NOT NULL,
	`leased_by` text,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_session` ON `webhook_deliveries` (`verification_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_receiver` ON `webhook_deliveries` (`receiver`,`tenant_id`,`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_newest` ON `webhook_deliveries` (`tenant_id`,`environment`,`created_at`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_failing` ON `webhook_deliveries` (`tenant_id`,`due_at`) WHERE attempts > 0 AND status IN ('pending', 'failed');--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `webhook_secrets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`tenant_id` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	`valid_until` integer,
	`environment` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_secrets_tenant` ON `webhook_secrets` (`tenant_id`);
