BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   pgettext(u'heading', u'Edit %(c)s') SSSS SSSSS
  XXXXXXX XXXXXXXX XXXXXFFFFFFFFFFX XX
  XXXX XXXXXXXXXXXXXX
    BB BBBB
      XXXXXXX XXXXXXXXXXXX
         ngettext(u'One job is active on this cluster, and Muster will look for it with the new settings. Change only how the same scheduler is reached.', u'%(n)s jobs are active on this cluster, and Muster will look for them with the new settings. Change only how the same scheduler is reached.', count) 
          SSS SSS SS SSSSSS SS SSSS SSSSSSSS SSS SSSSSS SSSS SSSS SSS SS SSSS SSS SSS SSSSSSSSS SSSSSS SSSS SSS
          SSS SSSS SSSSSSSSS SS SSSSSSSS
        
          PPPPP PPPP PPP PPPPPP PP PPPP PPPPPPPP PPP PPPPPP PPPP PPPP PPP PPPP PPPP PPP PPP PPPPPPPPP PPPPPP PPPP
          PPP PPP PPPP PPPPPPPPP PP PPPPPPPP
        
      XXXXXXXXX
    BBBBB
    BB BBBBBBBBBBB
      XXXXXXXXXXXXXXX XXXXXXX XX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
        XXXXXXX XXXXXXXXXXXX XXXXXXX XXXXXX XXXXXXX XX
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'Nothing to configure') XX
         gettext(u'This kind of cluster has no settings.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Back to the cluster') XXXX
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
