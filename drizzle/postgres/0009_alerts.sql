CREATE TABLE "mail_addresses" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text COLLATE "C" NOT NULL,
	"salt" "bytea" NOT NULL,
	"sealed" "bytea" NOT NULL,
	"hash" text COLLATE "C",
	"expires_at" bigint
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"cause" text COLLATE "C" PRIMARY KEY NOT NULL,
	"check_name" text COLLATE "C" NOT NULL,
	"finding" text COLLATE "C" NOT NULL,
	"raised_at" bigint,
	"mail_day" text COLLATE "C" NOT NULL,
	"unsent" text COLLATE "C" NOT NULL,
	"due_at" bigint,
	"attempts" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mail_addresses" ADD CONSTRAINT "mail_addresses_user_id_dashboard_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."dashboard_users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mail_addresses_user" ON "mail_addresses" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "mail_addresses_hash" ON "mail_addresses" USING btree ("hash");
