import { mount } from '../kit/mount.tsx'
import { BASE } from '../shared/base.ts'
import { Hosted } from './hosted.tsx'

const [, id = ''] = location.pathname.slice(BASE.pathname.length).split('/')

mount(<Hosted id={decodeURIComponent(id)} />)
