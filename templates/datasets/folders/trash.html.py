BBBBBBB BBBBBBBBBBB
BBBB BBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Deleted workspaces can be restored for %(n)s days. Then they are deleted permanently.') 
    SSSSSSS SSSSSSSSSS SSS SS SSSSSSSS SSS SSSSS SSSSS SSSS SSSS SSS SSSSSSS SSSSSSSSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Trash') X XXXXXXXXXX XX
  XXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XX
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX gettext(u'The trash is empty') XX
       gettext(u'Deleted workspaces appear here.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXX XXXXXXXX pgettext(u'button', u'Workspaces') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
BBBBBBBB
