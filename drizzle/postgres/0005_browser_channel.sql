CREATE TABLE "tenant_origins" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"environment" text COLLATE "C" NOT NULL,
	"origin" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "tenant_origins_tenant_id_environment_origin_pk" PRIMARY KEY("tenant_id","environment","origin")
);
--> statement-breakpoint
ALTER TABLE "verification_sessions" ADD COLUMN "sealed_dc_requests" "bytea";--> statement-breakpoint
ALTER TABLE "tenant_origins" ADD CONSTRAINT "tenant_origins_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE no action ON UPDATE no action;