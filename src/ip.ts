// Forms of addresses, exactly as `node:net` knows them. That module brings streams and sockets,
// which a start would wait for.

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])'
const FOUR = `(?:${BYTE}\\.){3}${BYTE}`
const GROUP = '(?:[0-9a-fA-F]{1,4})'

const IPV4 = new RegExp(`^${FOUR}$`)

/** By the groups before the `::`. A zone may follow. */
const IPV6 = new RegExp(
  `^(?:${[
    `(?:${GROUP}:){7}(?:${GROUP}|:)`,
    `(?:${GROUP}:){6}(?:${FOUR}|:${GROUP}|:)`,
    `(?:${GROUP}:){5}(?::${FOUR}|(?::${GROUP}){1,2}|:)`,
    `(?:${GROUP}:){4}(?:(?::${GROUP}){0,1}:${FOUR}|(?::${GROUP}){1,3}|:)`,
    `(?:${GROUP}:){3}(?:(?::${GROUP}){0,2}:${FOUR}|(?::${GROUP}){1,4}|:)`,
    `(?:${GROUP}:){2}(?:(?::${GROUP}){0,3}:${FOUR}|(?::${GROUP}){1,5}|:)`,
    `(?:${GROUP}:){1}(?:(?::${GROUP}){0,4}:${FOUR}|(?::${GROUP}){1,6}|:)`,
    `(?::(?:(?::${GROUP}){0,5}:${FOUR}|(?::${GROUP}){1,7}|:))`,
  ].join('|')})(?:%[0-9a-zA-Z-.:]{1,})?$`,
)

export const isIPv6 = (text: string): boolean => IPV6.test(text)

export const isIP = (text: string): 0 | 4 | 6 => (IPV4.test(text) ? 4 : isIPv6(text) ? 6 : 0)
