// Forms of addresses, as the runtime knows them. Its module brings streams and sockets, so it is
// loaded with the first address and not with the start.

const net = () => process.getBuiltinModule('node:net')

export const isIPv6 = (text: string): boolean => net().isIPv6(text)

export const isIP = (text: string): number => net().isIP(text)
