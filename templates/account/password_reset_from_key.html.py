BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'Set a new password') 
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBBB
    XXXX gettext(u'This link has expired') XXXXX
    XX XXXXXXXXXXXXXX gettext(u'It has already been used or is more than three days old. Request a new one.') XXXX
    XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBXX gettext(u'Request a new link') XXXX
  BBBB
    XXXXX
      XXXX gettext(u'Set a new password') XXXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u'Use at least 10 characters.') XXXX
    XXXXXX
    XXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX
      BBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Set password') XXXXXXXXX
    XXXXXXX
  BBBBB
BBBBBBBB
