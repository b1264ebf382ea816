CREATE TABLE "revocation_lists" (
	"uri" text COLLATE "C" NOT NULL,
	"media" text COLLATE "C" NOT NULL,
	"bytes" "bytea" NOT NULL,
	"issued_at" bigint NOT NULL,
	"ends_at" bigint,
	"ttl_ms" bigint,
	"fetched_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"due_at" bigint NOT NULL,
	"wanted" bigint NOT NULL,
	"brought_by" text COLLATE "C" NOT NULL,
	CONSTRAINT "revocation_lists_uri_media_pk" PRIMARY KEY("uri","media")
);

