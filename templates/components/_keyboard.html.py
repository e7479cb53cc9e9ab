BBBB BBBB
 #

XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
  XXXX XXXXXXXXXXX XXXXXXXXX
    XXX XXXXXXXXXXXXXXXX pgettext(u'heading', u'Keyboard shortcuts') XXXXX
    XXX XXXXXXXXXXXX XXXXXXXXXX
      XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'Search everything') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXX
      XXXX
         gettext(u'Search this page') 
      XXXXX
      XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
      XXXX
         gettext(u'Next or previous row') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'Open the row') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'Select the row') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'New job') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'Notifications') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'Keyboard shortcuts') 
      XXXXX
      XXXXXXXXXXXXXXXXXXXXXXX
      XXXX
         gettext(u'Close, or leave a field') 
      XXXXX
      BBB BBBBB BB BBB
        BBB BBBB BB BBBBBBBBBBB
          XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
          XXXX
            
          XXXXX
        BBBBBB
      BBBBBB
    XXXXX
    XXXXX XXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Close') XXXXXXXXX
    XXXXXXX
  XXXXXX
XXXXXXXXX
