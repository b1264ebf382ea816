// Schemes of a tenant's own apps. A scheme with a dot belongs to the owner of that domain (RFC 8252 § 7.1). One without belongs
// to nobody, so a tenant lists it; schemes that browsers or systems use cannot be listed.

const APP_SCHEMES_MAX = 10
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}$/

/** Schemes that do not open the tenant's app: they run something, or open another program. */
const TAKEN_BY = {
  web: `
    http https ws wss javascript jscript vbscript livescript mocha data blob file filesystem about view-source jar
    resource res feed feeds rss mhtml cid mid urn content intent oid info doi isbn did acct ftp ftps sftp gopher gemini
    dict finger ipfs ipns dweb magnet ed2k bittorrent onion tor dat hyper`,
  browsers: `
    googlechrome googlechromes firefox firefox-focus vivaldi duckduckgo ddgquicklink ddglaunch dolphin touch-http
    touch-https android-app android-resource market`,
  systems: `
    mk hcp help shell cmd powershell terminal wsl com lpt con prn aux nul apt flatpak snap appstream itms itms-apps
    itms-appss itms-services itms-beta macappstore macappstores appstore prefs app-prefs app-settings settings shortcuts
    workflow applescript openpgp4fpr pkcs11 x509 wifi dpp bluetooth nfc usb serial hotspot ipp ipps printer scan afp smb
    cifs nfs dav davs webdav webdavs tftp rsync stun stuns turn turns coap coaps mqtt mqtts amqp amqps ldap ldaps dns rtsp
    rtsps rtmp rtp sdp upnp dlna search search-ms`,
  systemApps: `
    mailto tel callto sms smsto mms mmsto xmpp im pres facetime facetime-audio facetime-prompt imessage message messages
    contacts addressbook calshow webcal webcals caldav carddav geo maps comgooglemaps googlemaps waze here-route photos
    photos-redirect camera musics podcast podcasts videos tv health fitness findmy homekit mt notes mobilenotes reminders
    voicememos ibooks onenote news nntp snews`,
  identityAndMoney: `
    openid openid4vp openid4vci eu-eaap eu-eaa-offer openid-credential-offer openid-vc openid-initiate-issuance eudi-openid4vp haip haip-vp
    haip-vci mdoc mdoc-openid4vp av wallet shoebox passbook otpauth otpauth-migration fido webauthn passkey keychain
    onepassword bitwarden lastpass dashlane enpass keepassxc authy duo okta bankid swish vipps mobilepay twint upi tez
    gpay googlepay applepay payto paypal venmo cashapp alipay alipays weixin wechat bitcoin bitcoincash litecoin dogecoin
    ethereum monero zcash dash ripple solana lightning lnurl lnurlp lnurlw lnurlc keyauth wc metamask ton`,
  talk: `
    skype skype-meetnow sip sips teams msteams lync zoommtg zoomus zoomrc zoomphonecall zoomcontactcentercall webex wbx
    webexteams ciscospark gotomeeting gotowebinar gotoopener whereby slack discord tg telegram whatsapp signal sgnl viber
    line threema element matrix irc ircs mumble ts3server`,
  otherMachines: `
    ssh telnet rlogin rsh tn3270 rdp vnc nx anydesk rustdesk parsec nomachine splashtop logmein screenconnect bomgar
    citrix citrixng citrixreceiver citrixsso receiver vmware-view vmrc horizon-client putty filezilla mobaxterm iterm2
    warp`,
  development: `
    vscode vscode-insiders vscodium code cursor windsurf zed jetbrains idea pycharm webstorm phpstorm rider goland clion
    toolbox xcode android-studio sourcetree gitkraken github-mac github-windows github-desktop x-github-client git svn hg
    bzr cvs p4 docker docker-desktop postman insomnia figma obsidian notion jdbc odbc mysql postgres postgresql mongodb
    redis sqlite oracle s3`,
  media: `
    steam steamlink battlenet uplay origin2 roblox roblox-player roblox-studio minecraft unityhub itch heroic xbox spotify
    itunes vlc youtube twitch netflix zotero evernote dropbox onedrive googledrive adobe acrobat creativecloud`,
}
const TAKEN = new Set(Object.values(TAKEN_BY).flatMap(names => names.trim().split(/\s+/)))
const TAKEN_PREFIX = new RegExp(
  [
    '^(?:ms-|microsoft|windows|onenote-|x-apple|x-man-page|x-web-search|com[.-]apple(?:[.-]|$)|com[.](?:microsoft|android|google)(?:[.]|$)',
    'vnd[.]|chrome|edge|moz-|safari|opera|brave|web\\+|git[+-]|svn[+-]|hg\\+|ssh\\+|winscp-|vscode|jetbrains-|citrix',
    'teamviewer|tv(?:control|filetransfer|join|sendfile|videocall|vpn)|zoom(?:mtg|us|phone))',
  ].join('|'),
)
/** With a dot, and still no domain: some readers of a link stop at the dot. */
const SCRIPT_PREFIX = /^(?:javascript|jscript|vbscript|livescript|data|intent|blob|file|view-source|https?|wss?)[.]/

/** A dot at the end makes no other name. */
export const isTaken = (scheme: string): boolean =>
  TAKEN.has(scheme.replace(/[.]+$/, '')) || TAKEN_PREFIX.test(scheme) || SCRIPT_PREFIX.test(scheme)

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
