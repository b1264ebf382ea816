// Spellings of destinations by kind. Every name resolves to a public address here, so a refusal is due to the spelling.
import type { RefusalReason } from '../../src/egress/policy.ts'
import { words } from '../helpers/words.ts'

type Spelling = [url: string, verdict: RefusalReason | 'accepted']

const all =
  (verdict: RefusalReason | 'accepted') =>
  (...urls: string[]): Spelling[] =>
    urls.map(url => [url, verdict])

const accepted = all('accepted')
const address = all('address')
const host = all('host')
const credentials = all('credentials')
const fragment = all('fragment')
const scheme = all('scheme')
const syntax = all('syntax')
const port = all('port')
const length = all('length')

export const SPELLINGS: Record<string, Spelling[]> = {
  'ordinary and odd, but public': accepted(
    ...words(`
      https://shop.example.com/webhooks http://shop.example.com https://shop.example.com/webhooks?shop=1&till=2
      https://shop.example.com?shop=1 HTTPS://SHOP.EXAMPLE.COM/Webhooks?a=b%23c hTTpS://shop.example.com/
      https://shop.example.com./ https://shop.example.com.:8443/ https://shop.example.com:/
      https://shop.example.com:443/ https://shop.example.com:0443/ https://shop.example.com:00000443/
      http://shop.example.com:80/ http://shop.example.com:443/ https://@shop.example.com/
      https://:@shop.example.com/ https:shop.example.com https:/shop.example.com https:///shop.example.com
      https://////shop.example.com https://shop.example.com/../../etc/passwd https://shop.example.com/%2e%2e/%00
      https://shop.example.com/http://127.0.0.1/ https://shop.example.com/?url=http://169.254.169.254/
      https://shop.example.com/@127.0.0.1/ https://shop.example.com/?@127.0.0.1/ https://_dmarc.shop-1.example.com/
      https://localhost.example.com/ https://local.example.com/ https://mylocalhost.com/ https://shop.notlocal/
      https://shop.athome.arpa/ https://127.0.0.1.example.com/ https://169.254.169.254.nip.example/
      https://1.2.3.4.example/ https://0x7f.example/ https://a.b/ https://xn--bcher-kva.example/
      https://bücher.example/ https://BÜCHER.example/ https://例え.example/ https://shop。example。com/
      https://shop．example．com/ https://shop｡example｡com/ https://ｓｈｏｐ.example.com/ https://%73hop.example.com/
      https://faß.example/ https://shop⁄example.com/ https://127.0.0.0xg/
    `),
    'https:\\\\shop.example.com\\webhooks',
    'https:/\\shop.example.com/',
    ' https://shop.example.com/\n',
    '\u0000\u001f https://shop.example.com/',
    'ht\ntps://shop.example.com/',
    'https://sh\top.example.com/',
    'https://shop.exam\r\nple.com/',
    'https://shop.example.com/a b',
    'https://shop.example.com\\@127.0.0.1/',
    'https://sh\u00adop.example.com/',
    'https://sho\u200bp.example.com/',
  ),

  'public addresses, however written': accepted(
    ...words(`
      https://8.8.8.8/ https://134744072/ https://0x08080808/ https://0x8.0x8.0x8.0x8/ https://010.010.010.010/
      https://8.8.2056/ https://8.526344/ https://8.8.8.8./ https://８.８.８.８/ https://1.1.1.1:8443/
      https://9.255.255.255/ https://11.0.0.0/ https://100.63.255.255/ https://100.128.0.0/ https://126.255.255.255/
      https://128.0.0.0/ https://169.253.255.255/ https://169.255.0.0/ https://168.63.129.15/ https://168.63.129.17/
      https://172.15.255.255/ https://172.32.0.0/ https://192.167.255.255/ https://192.169.0.0/
      https://198.17.255.255/ https://198.20.0.0/ https://223.255.255.255/ https://[2606:4700:4700::1111]/
      https://[2606:4700:4700:0:0:0:0:1111]/ https://[2606:4700:4700::0.0.17.17]/
      https://[2A00:1450:4001:81B::200E]:8443/ https://[2000::]/ https://[2003::1]/ https://[3ffe::1]/
    `),
  ),

  'loopback in every notation': address(
    ...words(`
      http://127.0.0.1/ http://127.0.0.1:8080/ http://127.0.0.1:443/ http://127.0.0.2/ http://127.255.255.255/
      http://127.127.127.127/ http://2130706433/ http://2130706434/ http://0x7f.1/ http://0x7F.0x0.0x0.0x1/
      http://0X7F000001/ http://0x7f000001/ http://0x000000007f000001/ http://0x7f.0.1/ http://0177.0.0.1/
      http://0177.1/ http://00000177.0.0.1/ http://017700000001/ http://0177.0x0.0.1/ http://127.1/ http://127.0.1/
      http://127.000.000.001/ http://127.0.0.01/ http://127.0.0.0x1/ http://127.0x1/ http://127.65535/
      http://127.16777215/ http://127.0.0.1./ http://127.1./ http://0x7f.1./ http://2130706433./ http://１２７.０.０.１/
      http://１２７．０．０．１/ http://127。0。0。1/ http://127｡0｡0｡1/ http://①②⑦.0.0.1/ http://127.⁰.₀.¹/ http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/
      http://𝟣𝟤𝟩.0.0.𝟣/ http://０x7f.1/ http://0ｘ7f000001/ http://%31%32%37.0.0.1/ http://127%2e0%2e0%2e1/
      http://127.0.0%2E1/ http://%31%32%37%2e%30%2e%30%2e%31/ http://127%E3%80%820.0.1/
      http://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/ http:127.0.0.1 http:/127.0.0.1 http:///127.0.0.1
      http://127.0.0.1?shop.example.com http://127.0.0.1/shop.example.com http://@127.0.0.1/ https://127.0.0.1:0443/
    `),
    'http://127.0.0\u00ad.1/',
    'http://127.\u200b0.0.1/',
    'http://12\t7.0.0.1/',
    'http://127.0\n.0.1/',
    '\thttp://127.0.0.1/ ',
    'http:\\\\127.0.0.1/',
    'http://127.0.0.1\\@shop.example.com/',
    'http://127.0.0.1:80\\.example.com/',
  ),

  'private and reserved IPv4': address(
    ...words(`
      http://0/ http://0.0.0.0/ http://0.0.0.0:8080/ http://0x0/ http://00/ http://0.1/ http://0.255.255.255/
      http://10.0.0.1/ http://10.255.255.255/ http://012.1/ http://0xa000001/ http://167772161/ http://100.64.0.0/
      http://100.127.255.255/ http://172.16.0.1/ http://172.31.255.255/ http://0xac.0x10.1/ http://2886729729/
      http://192.0.0.0/ http://192.0.0.192/ http://192.0.2.1/ http://192.31.196.1/ http://192.52.193.1/
      http://192.88.99.1/ http://192.168.0.0/ http://192.168.1.1/ http://192.168.257/ http://0300.0250.1.1/
      http://3232235777/ http://192.168.255.255/ http://192.175.48.1/ http://198.18.0.0/ http://198.19.255.255/
      http://198.51.100.1/ http://203.0.113.1/ http://224.0.0.1/ http://239.255.255.250/ http://240.0.0.1/
      http://255.255.255.254/ http://255.255.255.255/ http://4294967295/ http://0xffffffff/ http://037777777777/
    `),
  ),

  'cloud metadata, by address': address(
    ...words(`
      http://169.254.169.254/latest/meta-data/ http://169.254.169.254./ http://169.254.169.254:80/
      http://0xA9FEA9FE/ http://0xa9.0xfe.0xa9.0xfe/ http://0251.0376.0251.0376/ http://025177524776/
      http://2852039166/ http://169.254.43518/ http://169.16689662/ http://0xa9.254.0251.254/
      http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/ http://169。254。169。254/ http://169%2e254%2e169%2e254/
      http://169.254.170.2/v2/credentials http://169.254.169.123/ http://169.254.0.0/ http://169.254.255.255/
      http://168.63.129.16/ http://0xa83f8110/ http://100.100.100.200/latest/meta-data/ http://192.0.0.192/latest/
      http://[fd00:ec2::254]/latest/meta-data/ http://[fd00:ec2::254]/ http://[fd20:ce::254]/
      http://[::FFFF:A9FE:A9FE]/ http://[64:ff9b::169.254.169.254]/ http://[::ffff:169.254.169.254]/
      http://[::ffff:a9fe:a9fe]/ http://[::169.254.169.254]/ http://[64:ff9b::a9fe:a9fe]/ http://[2002:a9fe:a9fe::]/
      http://[fe80::a9fe:a9fe]/
    `),
  ),

  'IPv6 that leads nowhere public': address(
    ...words(`
      http://[::]/ http://[::]:8080/ http://[0:0:0:0:0:0:0:0]/ http://[::0.0.0.0]/ http://[::1]/ http://[::1]:8080/
      http://[0:0:0:0:0:0:0:1]/ http://[0000:0000:0000:0000:0000:0000:0000:0001]/ http://[::0001]/ http://[0::1]/
      http://[0:0::0:1]/ http://[::0.0.0.1]/ http://[::2]/ http://[100::1]/ http://[100:0:0:1::1]/
      http://[1fff:ffff::1]/ http://[4000::1]/ http://[5f00::1]/ http://[fc00::1]/ http://[fd00::1]/
      http://[FD12:3456:789A::1]/ http://[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]/ http://[fe80::1]/
      http://[febf::1]/ http://[fec0::1]/ http://[feff::1]/ http://[ff00::1]/ http://[ff02::1]/ http://[ff05::2]/
      http://[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]/ http://[2001:db8::1]/ http://[2001:DB8:0:0:8:800:200C:417A]/
      http://[3fff::1]/ http://[3fff:fff:ffff::1]/ http://[2620:4f:8000::1]/ http://[2001:2::1]/
      http://[2001:10::1]/ http://[2001:20::1]/ http://[2001:1::1]/ http://[2001:3::1]/ http://[2001:4:112::1]/
    `),
  ),

  'IPv4 wrapped in IPv6': address(
    ...words(`
      http://[::127.0.0.1]/ http://[::7f00:1]/ http://[::8.8.8.8]/ http://[::ffff:127.0.0.1]/
      http://[::ffff:7f00:1]/ http://[::FFFF:7F00:0001]/ http://[0:0:0:0:0:ffff:127.0.0.1]/
      http://[0000:0000:0000:0000:0000:ffff:7f00:0001]/ http://[::ffff:10.0.0.1]/ http://[::ffff:192.168.1.1]/
      http://[::ffff:0.0.0.0]/ http://[::ffff:8.8.8.8]/ http://[::ffff:0:127.0.0.1]/ http://[::ffff:0:7f00:1]/
      http://[64:ff9b::127.0.0.1]/ http://[64:ff9b::7f00:1]/ http://[64:ff9b::8.8.8.8]/
      http://[0064:FF9B:0:0:0:0:7F00:0001]/ http://[64:ff9b:1::7f00:1]/ http://[64:ff9b:1:ffff::a00:1]/
      http://[2002:7f00:1::]/ http://[2002:7f00:0001:0:0:0:0:1]/ http://[2002:c0a8:101::1]/
      http://[2002:808:808::1]/ http://[2001:0:7f00:1::]/ http://[2001::1]/
      http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/ http://[fe80::5efe:127.0.0.1]/
    `),
  ),

  'names for use inside': host(
    ...words(`
      http://localhost/ http://LOCALHOST/ http://LocalHost:8080/ http://localhost./ http://localhost../
      http://%6cocalhost/ http://local%68ost/ http://ⓛocalhost/ http://ｌｏｃａｌｈｏｓｔ/ http://𝓁ocalhost/
      http://ℒocalhost/ http://shop.localhost/ http://shop.LOCALHOST./ http://localhost.localdomain.localhost/
      http://printer.local/ http://printer.LOCAL/ http://printer.local./ http://printer。local/ http://printer.ⓛocal/
      http://local/ http://metadata.google.internal/ http://METADATA.GOOGLE.INTERNAL./computeMetadata/v1/
      http://metadata.google.ｉnternal/ http://instance-data.ec2.internal/ http://internal/
      http://vault.service.internal/ http://host.docker.internal/ http://gateway.docker.internal:8080/
      http://kubernetes.docker.internal/ http://home.arpa/ http://nas.home.arpa/ http://nas.home.arpa./
      http://expyuzz4wqqyqhjn.onion/ http://a.b.onion./
    `),
    'http://loc\u00adalhost/',
    'http://local\u200bhost/',
    'http://local\thost/',
  ),

  'names that are not whole': host(
    ...words(`
      http://intranet/ http://metadata/ http://instance-data/ http://kubernetes/ http://com./ http://a/
      http://xn--bcher-kva/ http://bücher/ http://./ http://../ http://.../ http://。/ http://shop..example.com/
      http://shop。。example.com/ http://.example.com/ http://.localhost.example.com/ http://shop.example.com../
      http://8.8.8.8../ http://.127.0.0.1.example/ http://shop$.example.com/ http://shop!.example.com/
      http://(shop).example.com/ http://*.example.com/ http://shop,example.com/ http://shop+1.example.com/
      http://shop;.example.com/ http://shop=1.example.com/ http://shop~.example.com/ http://shop&.example.com/
      http://shop".example.com/ http://{shop}.example.com/
    `),
    "http://shop'.example.com/",
    'http://`id`.example.com/',
    `http://${'a'.repeat(64)}.example.com/`,
    `http://shop.${'a'.repeat(64)}/`,
    `http://${'a.'.repeat(126)}aa/`,
    `http://${'a.'.repeat(500)}example/`,
  ),

  'user names and passwords': credentials(
    ...words(`
      https://user@shop.example.com/ https://user:@shop.example.com/ https://user:secret@shop.example.com/
      https://:secret@shop.example.com/ https://shop.example.com@127.0.0.1/ https://shop.example.com:443@127.0.0.1/
      https://shop.example.com%40127.0.0.1@example.com/ https://127.0.0.1@shop.example.com/
      https://a@b@shop.example.com/ https://a:b@c:d@127.0.0.1/ https://shop.example.com;@127.0.0.1/
      https://shop.example.com&@127.0.0.1/ https://%20@shop.example.com/ https://%00@shop.example.com/
      http://[::1]@shop.example.com/ http:user@localhost/
    `),
  ),

  fragments: fragment(
    ...words(`
      https://shop.example.com/# https://shop.example.com/#paid https://shop.example.com#@127.0.0.1/
      https://shop.example.com?# https://shop.example.com/?a=b#c http://127.0.0.1#shop.example.com
      http://127.0.0.1/# http://localhost# https://shop.example.com:22/# https://shop.example.com/##
    `),
  ),

  'other schemes': scheme(
    ...words(`
      ftp://shop.example.com/ ftp://127.0.0.1/ ws://shop.example.com/ wss://shop.example.com/ file:///etc/passwd
      file://localhost/etc/passwd file://shop.example.com/etc/passwd file:C:/Windows/win.ini FILE:///etc/passwd
      gopher://127.0.0.1:6379/_ dict://127.0.0.1:11211/stats ldap://127.0.0.1/ tftp://127.0.0.1/x
      jar:https://shop.example.com!/ view-source:https://shop.example.com/ javascript:alert(1) data:text/plain,x
      blob:https://shop.example.com/1 about:blank mailto:shop@example.com unix:/run/docker.sock
      http+unix://%2Frun%2Fdocker.sock/ httpx://shop.example.com/ https-://shop.example.com/
      http2://shop.example.com/ xhttps://shop.example.com/ shop.example.com:443 localhost:3000
      http.://shop.example.com/
    `),
    'java\nscript:alert(1)',
  ),

  'no URL at all': syntax(
    ...words(`
      : / // ? # shop.example.com shop.example.com/webhooks /webhooks //shop.example.com/ 127.0.0.1 127.0.0.1:8080
      [::1]:8080 ://shop.example.com/ :https://shop.example.com/ 1http://shop.example.com/ -http://shop.example.com/
      ｈttp://shop.example.com/ http http: http:/ http:// https:/// http://? http://:80/ http://@/ http://user@/
      http://user:pass@
    `),
    '',
    ' ',
    '\n',
    '\\\\shop.example.com\\',
    'h ttp://shop.example.com/',
    '\ud800',
    '\u0000',
  ),

  'broken hosts': syntax(
    ...words(`
      http://shop%20example.com/ http://shop<.example.com/ http://shop>.example.com/ http://shop|.example.com/
      http://shop^.example.com/ http://shop[.example.com/ http://shop].example.com/ http://shop%.example.com/
      http://shop%zz.example.com/ http://shop%2f.example.com/ http://shop%23.example.com/
      http://shop%3a.example.com/ http://shop%40127.0.0.1/ http://shop%5c.example.com/
      http://127.0.0.1%00.example.com/ http://127.0.0.1%0d%0ahost:x/ http://shop%ff.example.com/
      http://xn--.example.com/ http://xn--a.example.com/ http://shop℀.example.com/ http://shop／.example.com/
      http://shop？.example.com/ http://shop＃.example.com/ http://shop＠127.0.0.1/ http://shop：80/ http://256.0.0.1/
      http://127.0.0.256/ http://127.0.0.1.5/ http://1.2.3.4.5/ http://4294967296/ http://0x100000000/
      http://040000000000/ http://127.16777216/ http://127.0.65536/ http://0x7g.1/ http://09.0.0.1/
      http://127.0.0.08/ http://shop.example.0x/ http://shop.example.999999999999/ http://shop.1/
      http://shop.example.0x1/ http://example.1.2.3.4/ http://127..0.1/ http://.127.0.0.1/
    `),
    'http://shop example.com/',
    'http://shop\u0000.example.com/',
    'http://shop\u007f.example.com/',
    'http://\ud800.example.com/',
    'http://\ufffd.example.com/',
    'http://\u00ad/',
  ),

  'broken IPv6': syntax(
    ...words(`
      http://[]/ http://[/ http://[::1/ http://::1/ http://::1]/ http://[::1]x/ http://[::1].example.com/
      http://x[::1]/ http://[[::1]]/ http://[::1]]/ http://[:::1]/ http://[1::2::3]/ http://[1:2:3:4:5:6:7]/
      http://[1:2:3:4:5:6:7:8:9]/ http://[::g]/ http://[::00001]/ http://[::127.0.0.1.1]/ http://[::127.0.0]/
      http://[::127.0.0.256]/ http://[::127.0.0.01]/ http://[::0x7f.0.0.1]/ http://[127.0.0.1]/ http://[localhost]/
      http://[shop.example.com]/ http://[v1.x]/ http://[::1%]/ http://[::1%25]/ http://[::1%25lo]/
      http://[fe80::1%eth0]/ http://[fe80::1%25eth0]/ http://[fe80::1%252]/ http://[%3a%3a1]/ http://%5b::1%5d/
      http://[：：1]/ http://［::1］/
    `),
    'http://[::1 ]/',
    'http://[ ::1]/',
  ),

  'broken ports': syntax(
    ...words(`
      http://shop.example.com:65536/ http://shop.example.com:99999999999999999999/ http://shop.example.com:-80/
      http://shop.example.com:+80/ http://shop.example.com:80a/ http://shop.example.com:0x50/
      http://shop.example.com:８０/ http://shop.example.com:80:80/ http://shop.example.com:http/
      http://shop.example.com:%38%30/ http://[::1]:x/
    `),
    'http://shop.example.com:8 0/',
  ),

  'ports of other services': port(
    ...words(`
      http://shop.example.com:0/ http://shop.example.com:22/ https://shop.example.com:025/
      http://shop.example.com:0000006379/ https://shop.example.com:5432/ http://8.8.8.8:22/ http://127.0.0.1:22/
      http://127.0.0.1:6379/ http://169.254.169.254:0/ http://[::1]:2375/ http://[2606:4700:4700::1111]:11211/
    `),
  ),

  lengths: [
    ...accepted('https://shop.example.com/'.padEnd(2048, 'a')),
    ...accepted(`https://${'a.'.repeat(126)}a/`),
    ...accepted(`https://${'a'.repeat(63)}.example.com/`),
    ...length('https://shop.example.com/'.padEnd(2049, 'a')),
    ...length(`https://shop.example.com/${'ä'.repeat(2024)}`),
    ...length(' '.repeat(2049)),
    ...length('x'.repeat(100_000)),
    ...length(`${' '.repeat(2048)}http://127.0.0.1/`),
    ...length(`https://${'@'.repeat(3000)}shop.example.com/`),
    ...length(`https://${'a.'.repeat(5000)}example/`),
  ],
}
