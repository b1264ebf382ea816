// Schemes of a tenant's own apps. A scheme with a dot belongs to the owner of that domain (RFC 8252 § 7.1). One without belongs
// to nobody, so a tenant lists it; schemes that browsers or systems use cannot be listed.

const APP_SCHEMES_MAX = 10
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}$/

/** Browsers, systems and wallets use these: they do not open the tenant's app. */
const TAKEN = new Set(
  `http https ws wss ftp ftps sftp gopher javascript vbscript livescript mocha data blob file filesystem about view-source jar resource res
   feed feeds rss mhtml mk hcp help shell cid mid urn content intent android-app market itms itms-apps itms-appss itms-services prefs
   app-prefs app-settings shortcuts workflow applescript afp smb cifs nfs dav davs webdav webdavs webcal ssh telnet rlogin tn3270 rdp vnc
   ldap ldaps news nntp snews mailto tel callto sms smsto mms mmsto facetime facetime-audio facetime-prompt sip sips skype maps geo
   search search-ms onenote wallet shoebox openid openid4vp openid4vci openid-credential-offer openid-vc openid-initiate-issuance
   eudi-openid4vp haip haip-vp haip-vci mdoc mdoc-openid4vp av`.split(/\s+/),
)
const TAKEN_PREFIX =
  /^(?:ms-|microsoft|windows|x-apple|com[.-]apple|com[.]microsoft|com[.]android|chrome|edge|moz-|safari|opera|brave|web\+)/

export const isTaken = (scheme: string): boolean => TAKEN.has(scheme) || TAKEN_PREFIX.test(scheme)

/** Lower case, without repeats; throws for the first that cannot be listed. */
export function readAppSchemes(names: readonly string[]): string[] {
  const schemes = [...new Set(names.map(name => name.trim().replace(/:$/, '').toLowerCase()))]
  if (schemes.length > APP_SCHEMES_MAX) throw new Error(`at most ${APP_SCHEMES_MAX} schemes can be listed`)
  for (const scheme of schemes) {
    if (!SCHEME.test(scheme)) {
      throw new Error(`"${scheme.slice(0, 40)}" is no scheme: write 2 to 32 letters, digits, "+", "-" or ".", such as shop-app`)
    }
    if (isTaken(scheme))
      throw new Error(`"${scheme}" has a meaning of its own in browsers or systems; choose a name of your app's own`)
  }
  return schemes
}
