BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'Reset your password') 
BBBBBBBB
BBBBB BBBBBBB
  XXXXX
    XXXX gettext(u'Reset your password') XXXXX
    XX XXXXXXXXXXXX XXXXXXX
      BB BBBBBBBB
         gettext(u"Enter your email. If there's an account for it, we'll send a link to set a new password.") 
      BBBB
         gettext(u'This portal sends no email. Enter yours, then ask an operator for the link: the portal writes it to its log.') 
      BBBBB
    XXXX
  XXXXXX
  XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
    BBBBBBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXXXX
      BB BBBBBBBB
         pgettext(u'button', u'Send link') 
      BBBB
         pgettext(u'button', u'Create link') 
      BBBBB
    XXXXXXXXX
  XXXXXXX
  XX XXXXXXXXXXXXXX
    XX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'link', u'Back to sign in') XXXX
  XXXX
BBBBBBBB
