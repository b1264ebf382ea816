/** A list is fetched and read on the server. */
export const LIST_MS_MAX = 60_000
