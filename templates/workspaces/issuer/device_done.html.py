BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBBBBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBB
    XXXX gettext(u"You're signed in to the CLI") XXXXX
    XX XXXXXXXXXXXXXX
       gettext(u'You can close this page. To sign the CLI out, revoke its token on the Tokens page.') 
    XXXX
  BBBB
    XXXX pgettext(u'page title', u'Request denied') XXXXX
    XX XXXXXXXXXXXXXX gettext(u"If this request wasn't yours, someone else made it. They didn't get access.") XXXX
  BBBBB
  XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Go to Home') XXXX
BBBBBBBB
