CREATE TABLE "answer_time_days" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"at_least_ms" bigint NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "answer_time_days_tenant_id_environment_day_at_least_ms_pk" PRIMARY KEY("tenant_id","environment","day","at_least_ms")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"prefix" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"scopes" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"successor_id" text COLLATE "C",
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "audit_checkpoints" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"signature" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bundle_signers" (
	"fingerprint" text COLLATE "C" PRIMARY KEY NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"last_made_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_links" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C",
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_networks" (
	"user_id" text COLLATE "C" NOT NULL,
	"network" text COLLATE "C" NOT NULL,
	"seen_at" bigint NOT NULL,
	CONSTRAINT "dashboard_networks_user_id_network_pk" PRIMARY KEY("user_id","network")
);
--> statement-breakpoint
CREATE TABLE "dashboard_passkeys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"public_key" "bytea" NOT NULL,
	"signatures" bigint NOT NULL,
	"transports" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "dashboard_sessions" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"agent" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"authenticated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_users" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"member_of" text COLLATE "C",
	"password" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"last_login_at" bigint,
	"role" text COLLATE "C" NOT NULL,
	"totp_salt" "bytea",
	"totp_sealed" "bytea",
	"totp_since" bigint,
	"totp_step" bigint
);
--> statement-breakpoint
CREATE TABLE "device_tokens" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"device_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"generation" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"family_expires_at" bigint,
	"spent_at" bigint,
	"used_at" bigint,
	"revoked_at" bigint,
	"replay_sealed" "bytea"
);
--> statement-breakpoint
CREATE TABLE "devices" (
	"id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"allowed_templates" text COLLATE "C" NOT NULL,
	"pairing_expires_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"enrolled_at" bigint,
	"last_seen_at" bigint,
	"revoked_at" bigint,
	CONSTRAINT "devices_id_tenant_id_pk" PRIMARY KEY("id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "go_live" (
	"tenant_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"documents" text COLLATE "C" NOT NULL,
	"first_test_at" bigint,
	"first_live_at" bigint
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"salt" "bytea",
	"sealed" "bytea",
	"expires_at" bigint NOT NULL,
	"wrapping_key" bigint
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"value" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "known_networks" (
	"network" text COLLATE "C" PRIMARY KEY NOT NULL,
	"seen_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "login_challenges" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"purpose" text COLLATE "C" NOT NULL,
	"user_id" text COLLATE "C",
	"challenge" text COLLATE "C" NOT NULL,
	"failures" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "login_failures" (
	"account" text COLLATE "C" NOT NULL,
	"network" text COLLATE "C" NOT NULL,
	"failures" bigint NOT NULL,
	"not_before" bigint NOT NULL,
	"forget_at" bigint NOT NULL,
	CONSTRAINT "login_failures_account_network_pk" PRIMARY KEY("account","network")
);
--> statement-breakpoint
CREATE TABLE "outcome_days" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "outcome_days_tenant_id_environment_day_outcome_pk" PRIMARY KEY("tenant_id","environment","day","outcome")
);
--> statement-breakpoint
CREATE TABLE "pairing_guesses" (
	"network" text COLLATE "C" PRIMARY KEY NOT NULL,
	"failed_at" text COLLATE "C" NOT NULL,
	"locked_until" bigint NOT NULL,
	"forget_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registration_certificates" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"tenant_id" text COLLATE "C",
	"jwt" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"intended_use" text COLLATE "C",
	"purposes" text COLLATE "C" NOT NULL,
	"credentials" text COLLATE "C" NOT NULL,
	"not_before" bigint,
	"not_after" bigint,
	"status" text COLLATE "C",
	"templates" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "session_keys" (
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"wrapping_key" bigint NOT NULL,
	"wrapped" "bytea" NOT NULL,
	CONSTRAINT "session_keys_verification_id_tenant_id_pk" PRIMARY KEY("verification_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "sign_ins" (
	"id" bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (sequence name "sign_ins_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" bigint NOT NULL,
	"user_id" text COLLATE "C",
	"outcome" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"chain" text COLLATE "C" NOT NULL,
	"client_id" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"not_after" bigint NOT NULL,
	"retired_at" bigint,
	"tenant_id" text COLLATE "C",
	"starts_at" bigint
);
--> statement-breakpoint
CREATE TABLE "template_versions" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"query" text COLLATE "C" NOT NULL,
	"rules" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"query" text COLLATE "C" NOT NULL,
	"profile" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"rules" text COLLATE "C",
	"purpose" text COLLATE "C",
	"live_since" bigint,
	CONSTRAINT "templates_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
CREATE TABLE "tenant_looks" (
	"tenant_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"accent" text COLLATE "C",
	"privacy_url" text COLLATE "C",
	"logo" "bytea",
	"logo_type" text COLLATE "C",
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenant_origins" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"origin" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "tenant_origins_tenant_id_environment_origin_pk" PRIMARY KEY("tenant_id","environment","origin")
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"plan" text COLLATE "C" NOT NULL,
	"daily_quota" bigint,
	"retention_days" bigint,
	"created_at" bigint NOT NULL,
	"app_schemes" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "trust_anchors" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"certificate" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"trusted_for" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"crl" text COLLATE "C",
	"source_id" text COLLATE "C",
	"use" text COLLATE "C",
	"entity" text COLLATE "C",
	"country" text COLLATE "C",
	"since" bigint
);
--> statement-breakpoint
CREATE TABLE "trust_blocks" (
	"environment" text COLLATE "C" NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "trust_blocks_environment_fingerprint_pk" PRIMARY KEY("environment","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "trust_lists" (
	"source_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"bytes" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trust_source_pins" (
	"source_id" text COLLATE "C" NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"certificate" text COLLATE "C",
	"added_at" bigint NOT NULL,
	CONSTRAINT "trust_source_pins_source_id_fingerprint_pk" PRIMARY KEY("source_id","fingerprint")
);
--> statement-breakpoint
CREATE TABLE "trust_sources" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"use" text COLLATE "C" NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"preset" text COLLATE "C",
	"location" text COLLATE "C",
	"types" text COLLATE "C",
	"service_type" text COLLATE "C",
	"mode" text COLLATE "C",
	"every_ms" bigint NOT NULL,
	"grace_ms" bigint NOT NULL,
	"identity" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"sequence" bigint,
	"issued_at" bigint NOT NULL,
	"next_update" bigint,
	"digest" text COLLATE "C" NOT NULL,
	"signer" text COLLATE "C" NOT NULL,
	"announced" text COLLATE "C" NOT NULL,
	"accepted_at" bigint NOT NULL,
	"skipped" text COLLATE "C" NOT NULL,
	"difference" text COLLATE "C",
	"checked_at" bigint NOT NULL,
	"etag" text COLLATE "C",
	"failure" text COLLATE "C",
	"failure_detail" text COLLATE "C",
	"failing_since" bigint,
	"failures" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"warned_at" bigint,
	"created_at" bigint NOT NULL,
	"failure_signer" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"verifications_created" bigint NOT NULL,
	"newest_at" bigint NOT NULL,
	CONSTRAINT "usage_days_tenant_id_day_pk" PRIMARY KEY("tenant_id","day")
);
--> statement-breakpoint
CREATE TABLE "verification_events" (
	"id" bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (sequence name "verification_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"audit_seq" bigint
);
--> statement-breakpoint
CREATE TABLE "verification_results" (
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"audit_seq" bigint NOT NULL,
	CONSTRAINT "verification_results_verification_id_tenant_id_pk" PRIMARY KEY("verification_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "verification_sessions" (
	"id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"device_id" text COLLATE "C",
	"status" text COLLATE "C" NOT NULL,
	"template" text COLLATE "C",
	"template_version" text COLLATE "C",
	"profile" text COLLATE "C" NOT NULL,
	"client_id" text COLLATE "C" NOT NULL,
	"signing_key_id" text COLLATE "C" NOT NULL,
	"nonce" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"responded_at" bigint,
	"audit_seq" bigint NOT NULL,
	"idempotency_hash" text COLLATE "C",
	"salt" "bytea" NOT NULL,
	"sealed" "bytea",
	"sealed_response_key" "bytea",
	"response_code_hash" text COLLATE "C",
	"response_code_expires_at" bigint,
	"redeemed_at" bigint,
	"release" text COLLATE "C",
	"answered_from" text COLLATE "C",
	"page_owner_hash" text COLLATE "C",
	"wrapping_key" bigint NOT NULL,
	"sealed_dc_requests" "bytea",
	"key_id" text COLLATE "C",
	"terms" "bytea",
	"sealed_query" "bytea",
	CONSTRAINT "verification_sessions_id_tenant_id_pk" PRIMARY KEY("id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "verification_terms" (
	"term" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "verification_terms_term_created_at_verification_id_pk" PRIMARY KEY("term","created_at","verification_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"id" bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (sequence name "webhook_attempts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"delivery_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"attempt" bigint NOT NULL,
	"at" bigint NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"http_status" bigint,
	"duration_ms" bigint NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"verification_id" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"attempts" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"lease_until" bigint,
	"created_at" bigint NOT NULL,
	"lane" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C",
	"environment" text COLLATE "C" NOT NULL,
	"leased_by" text COLLATE "C",
	CONSTRAINT "webhook_deliveries_id_tenant_id_pk" PRIMARY KEY("id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "webhook_endpoints_tenant_id_environment_pk" PRIMARY KEY("tenant_id","environment")
);
--> statement-breakpoint
CREATE TABLE "webhook_secrets" (
	"id" bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY (sequence name "webhook_secrets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tenant_id" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"valid_until" bigint,
	"environment" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "wrapping_keys" (
	"id" bigint PRIMARY KEY NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"active_at" bigint,
	"unreadable_at" bigint,
	"retired_at" bigint
);
--> statement-breakpoint
ALTER TABLE "answer_time_days" ADD CONSTRAINT "answer_time_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_links" ADD CONSTRAINT "dashboard_links_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_networks" ADD CONSTRAINT "dashboard_networks_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_passkeys" ADD CONSTRAINT "dashboard_passkeys_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_sessions" ADD CONSTRAINT "dashboard_sessions_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_users" ADD CONSTRAINT "dashboard_users_member_of_tenants_id_fk" FOREIGN KEY ("member_of") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_tokens" ADD CONSTRAINT "device_tokens_device_id_tenant_id_devices_id_tenant_id_fk" FOREIGN KEY ("device_id","tenant_id") REFERENCES "public"."devices"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "devices" ADD CONSTRAINT "devices_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "go_live" ADD CONSTRAINT "go_live_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "login_challenges" ADD CONSTRAINT "login_challenges_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outcome_days" ADD CONSTRAINT "outcome_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registration_certificates" ADD CONSTRAINT "registration_certificates_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_keys" ADD CONSTRAINT "session_keys_verification_id_tenant_id_verification_sessions_id_tenant_id_fk" FOREIGN KEY ("verification_id","tenant_id") REFERENCES "public"."verification_sessions"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_keys" ADD CONSTRAINT "signing_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tenant_looks" ADD CONSTRAINT "tenant_looks_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tenant_origins" ADD CONSTRAINT "tenant_origins_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD CONSTRAINT "trust_anchors_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_lists" ADD CONSTRAINT "trust_lists_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_source_pins" ADD CONSTRAINT "trust_source_pins_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_events" ADD CONSTRAINT "verification_events_verification_id_tenant_id_verification_sessions_id_tenant_id_fk" FOREIGN KEY ("verification_id","tenant_id") REFERENCES "public"."verification_sessions"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_results" ADD CONSTRAINT "verification_results_verification_id_tenant_id_verification_sessions_id_tenant_id_fk" FOREIGN KEY ("verification_id","tenant_id") REFERENCES "public"."verification_sessions"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD CONSTRAINT "verification_sessions_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_tenant_id_webhook_deliveries_id_tenant_id_fk" FOREIGN KEY ("delivery_id","tenant_id") REFERENCES "public"."webhook_deliveries"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_verification_id_tenant_id_verification_sessions_id_tenant_id_fk" FOREIGN KEY ("verification_id","tenant_id") REFERENCES "public"."verification_sessions"("id","tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_tenant" ON "api_keys" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "dashboard_links_user" ON "dashboard_links" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "dashboard_passkeys_user" ON "dashboard_passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dashboard_sessions_id" ON "dashboard_sessions" USING btree ("id");--> statement-breakpoint
CREATE INDEX "dashboard_sessions_user" ON "dashboard_sessions" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dashboard_users_name" ON "dashboard_users" USING btree ("name");--> statement-breakpoint
CREATE UNIQUE INDEX "device_tokens_device" ON "device_tokens" USING btree ("device_id","generation","kind");--> statement-breakpoint
CREATE INDEX "device_tokens_expiry" ON "device_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "device_tokens_live_codes" ON "device_tokens" USING btree ("expires_at") WHERE kind = 'pairing' AND spent_at IS NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE INDEX "devices_tenant" ON "devices" USING btree ("tenant_id","environment","created_at");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_challenges_user" ON "login_challenges" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "login_challenges_expiry" ON "login_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_failures_forget" ON "login_failures" USING btree ("forget_at");--> statement-breakpoint
CREATE INDEX "recovery_codes_user" ON "recovery_codes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sign_ins_user" ON "sign_ins" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "sign_ins_at" ON "sign_ins" USING btree ("at");--> statement-breakpoint
CREATE INDEX "signing_keys_current" ON "signing_keys" USING btree ("role","created_at");--> statement-breakpoint
CREATE INDEX "verification_events_session" ON "verification_events" USING btree ("verification_id");--> statement-breakpoint
CREATE UNIQUE INDEX "verification_events_shown" ON "verification_events" USING btree ("verification_id") WHERE event = 'qr_shown';--> statement-breakpoint
CREATE INDEX "verification_sessions_newest" ON "verification_sessions" USING btree ("tenant_id","environment","created_at");--> statement-breakpoint
CREATE INDEX "verification_sessions_status" ON "verification_sessions" USING btree ("tenant_id","environment","status","created_at");--> statement-breakpoint
CREATE INDEX "verification_sessions_template" ON "verification_sessions" USING btree ("tenant_id","environment","template","created_at");--> statement-breakpoint
CREATE INDEX "verification_sessions_key" ON "verification_sessions" USING btree ("key_id","created_at") WHERE key_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "verification_sessions_device" ON "verification_sessions" USING btree ("device_id","created_at") WHERE device_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "verification_sessions_open" ON "verification_sessions" USING btree ("expires_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "verification_sessions_held" ON "verification_sessions" USING btree ("responded_at") WHERE status = 'pending' AND responded_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_attempts_delivery" ON "webhook_attempts" USING btree ("delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_session" ON "webhook_deliveries" USING btree ("verification_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_lane" ON "webhook_deliveries" USING btree ("lane","tenant_id","due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_newest" ON "webhook_deliveries" USING btree ("tenant_id","environment","created_at");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_failing" ON "webhook_deliveries" USING btree ("tenant_id","due_at") WHERE attempts > 0 AND status IN ('pending', 'failed');--> statement-breakpoint
CREATE INDEX "webhook_secrets_tenant" ON "webhook_secrets" USING btree ("tenant_id");
--> statement-breakpoint
-- By hand from here on.
-- Raised by every change of settings: its row lock lets one node change them at a time, its number tells the others.
CREATE TABLE "settings_version" (
	"version" bigint NOT NULL
);
--> statement-breakpoint
INSERT INTO "settings_version" VALUES (1);
--> statement-breakpoint
-- The running nodes. A node that has not written its beat for some seconds is dead, and its leases are free.
-- Unlogged: after a crash of the server every node writes its row again.
CREATE UNLOGGED TABLE "nodes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" text NOT NULL,
	"started_at" timestamptz NOT NULL DEFAULT clock_timestamp(),
	"beat_at" timestamptz NOT NULL DEFAULT clock_timestamp()
);
--> statement-breakpoint
-- When a job that one node does for all was begun last, and until when that node has it.
CREATE TABLE "job_runs" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"node" text COLLATE "C",
	"begun_at" timestamptz NOT NULL,
	"leased_until" timestamptz NOT NULL
);
--> statement-breakpoint
-- The audit chain. An act inserts an entry in its own transaction and takes no lock; whoever holds the chain's lock
-- links entries a moment later. What schema.ts calls a table is a view of both here.
CREATE TABLE "audit_entries" (
	"id" bigint PRIMARY KEY NOT NULL,
	"tx" xid8 NOT NULL DEFAULT pg_current_xact_id(),
	"at" bigint NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"commitment" text COLLATE "C" NOT NULL,
	"salt" bytea,
	"sealed" bytea,
	"session_id" text COLLATE "C",
	"wrapping_key" bigint
);
--> statement-breakpoint
CREATE INDEX "audit_entries_tx" ON "audit_entries" ("tx");
--> statement-breakpoint
-- Each number is the first of a block of 1,000 ids, for one connection.
CREATE SEQUENCE "audit_entry_blocks" INCREMENT BY 1000;
--> statement-breakpoint
CREATE TABLE "audit_links" (
	"seq" bigint PRIMARY KEY NOT NULL,
	"entry_id" bigint UNIQUE NOT NULL,
	"previous" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE VIEW "audit_records" AS
	SELECT link.seq, entry.at, entry.tenant_id, entry.actor, entry.action, entry.subject, entry.commitment,
		link.previous, link.hash, entry.salt, entry.sealed,
		entry.session_id, entry.wrapping_key, link.entry_id
	FROM "audit_links" link JOIN "audit_entries" entry ON entry.id = link.entry_id;
--> statement-breakpoint
-- Every entry of a transaction before `low` is linked. One row, changed under the chain's lock.
CREATE TABLE "audit_low" (
	"low" xid8 NOT NULL
);
--> statement-breakpoint
INSERT INTO "audit_low" VALUES ('0');
--> statement-breakpoint
-- Committed entries without a link, as of the moment of the statement that asks. A dump that was restored into another
-- cluster may have transaction numbers that this one has not reached: their entries are linked already, unless `low` is
-- such a number too; then all entries are looked at once. The subselect is never made a join: few rows ask it.
CREATE FUNCTION "audit_unlinked_entries"() RETURNS SETOF "audit_entries" LANGUAGE plpgsql STABLE AS $$
DECLARE
	lowest xid8 := (SELECT low FROM audit_low);
	beyond xid8 := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
	IF lowest > beyond THEN
		lowest := '0';
		beyond := '18446744073709551615';
	END IF;
	RETURN QUERY SELECT entry.* FROM audit_entries entry WHERE entry.tx >= lowest AND entry.tx < beyond
		AND (SELECT link.seq FROM audit_links link WHERE link.entry_id = entry.id) IS NULL
		ORDER BY entry.tx, entry.id;
END
$$;
--> statement-breakpoint
CREATE VIEW "audit_unlinked" AS
	SELECT id, at, tenant_id, actor, action, subject, commitment FROM "audit_unlinked_entries"();
--> statement-breakpoint
-- Leases that are under way: every node looks for those of dead nodes.
CREATE INDEX "webhook_deliveries_leased" ON "webhook_deliveries" ("lease_until") WHERE lease_until IS NOT NULL;
--> statement-breakpoint
-- Budgets against guessing, which all nodes share. Unlogged: after a crash of the server they are full again.
CREATE UNLOGGED TABLE "rate_buckets" (
	-- Policy and HMAC of the key.
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	-- When the budget is full again, in 1024ths of a millisecond.
	"full_at" bigint NOT NULL,
	"taken" bigint NOT NULL,
	"forget_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "rate_buckets_forget" ON "rate_buckets" ("forget_at");
--> statement-breakpoint
-- Who works under a name. Unlogged: whoever worked when the server crashed has lost its transaction as well.
CREATE UNLOGGED TABLE "claims" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"word" text COLLATE "C" NOT NULL,
	-- The node, and the number of its request.
	"holder" text COLLATE "C" NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
-- Results with their portraits, for 15 minutes. Unlogged: they are in no log, replica or base backup.
CREATE UNLOGGED TABLE "portraits" (
	"verification_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" NOT NULL,
	"kept_until" bigint NOT NULL,
	"salt" bytea NOT NULL,
	"sealed" bytea NOT NULL,
	PRIMARY KEY ("verification_id", "tenant_id"),
	FOREIGN KEY ("verification_id", "tenant_id") REFERENCES "verification_sessions" ("id", "tenant_id") ON DELETE CASCADE
);
--> statement-breakpoint
CREATE INDEX "portraits_until" ON "portraits" ("kept_until");
