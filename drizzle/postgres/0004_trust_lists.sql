CREATE TABLE "bundle_signers" (
	"fingerprint" text COLLATE "C" PRIMARY KEY NOT NULL,
	"label" text COLLATE "C" NOT NULL,
	"last_made_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "go_live" (
	"tenant_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"documents" text COLLATE "C" NOT NULL,
	"first_test_at" bigint,
	"first_live_at" bigint
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
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "signing_keys" ADD COLUMN "tenant_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "signing_keys" ADD COLUMN "starts_at" bigint;--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD COLUMN "source_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD COLUMN "use" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD COLUMN "entity" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD COLUMN "country" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD COLUMN "since" bigint;--> statement-breakpoint
ALTER TABLE "go_live" ADD CONSTRAINT "go_live_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "registration_certificates" ADD CONSTRAINT "registration_certificates_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_lists" ADD CONSTRAINT "trust_lists_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_source_pins" ADD CONSTRAINT "trust_source_pins_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "signing_keys" ADD CONSTRAINT "signing_keys_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trust_anchors" ADD CONSTRAINT "trust_anchors_source_id_trust_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."trust_sources"("id") ON DELETE no action ON UPDATE no action;