CREATE TABLE "source_days" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"day" text COLLATE "C" NOT NULL,
	"template" text COLLATE "C" NOT NULL,
	"device_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "source_days_tenant_id_environment_day_template_device_id_kind_pk" PRIMARY KEY("tenant_id","environment","day","template","device_id","kind")
);
--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "beginnings" "bytea";--> statement-breakpoint
ALTER TABLE "source_days" ADD CONSTRAINT "source_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "verification_sessions_beginnings" ON "verification_sessions" USING btree ("tenant_id","environment","created_at","beginnings") WHERE beginnings IS NOT NULL;
