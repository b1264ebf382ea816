// Tables are made when modules load, so the kind of database must be known before any setting is read.

/** One process works with one kind of database. */
export const isPostgres = /^postgres(ql)?:/.test(process.env.VIDIMUS_DATABASE_URL?.trim() ?? '')
