BBBB BBBBBBBBBBBBBB BBB pgettext(u'mail', u'Hello,') 

 gettext(u'%(inviter)s invites you to %(o)s on Muster, where GPU jobs run. To accept, open:') SSSSSSSSSSS SSSSSSS SSS SS SSSSS SS SSSSSSS SSSSS SSS SSSS SSSS SS SSSSSSS SSSSS

  

 gettext(u'The link is for you alone, works once, and until %(u)s UTC.\nIf you expected no invitation, do nothing.') SSS SSSS SS SSS SSS SSSSSS SSSSS SSSSS SSS SSSSS SSSSS SSSS
SS SSS SSSSSSSS SS SSSSSSSSSSS SS SSSSSSSS
BBBBBBBBBBBBB
