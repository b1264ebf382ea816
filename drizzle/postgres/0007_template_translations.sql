ALTER TABLE "templates" ADD COLUMN "translations" text COLLATE "C";
