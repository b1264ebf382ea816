import { defineConfig } from 'drizzle-kit'

// `bun run migration` writes for SQLite; with VIDIMUS_DATABASE_URL=postgres: it writes for PostgreSQL.
const isPostgres = process.env.VIDIMUS_DATABASE_URL?.startsWith('postgres') === true

export default defineConfig({
  dialect: isPostgres ? 'postgresql' : 'sqlite',
  schema: './src/db/schema.ts',
  out: isPostgres ? './drizzle/postgres' : './drizzle/sqlite',
})
